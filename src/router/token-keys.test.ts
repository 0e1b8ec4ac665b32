import assert from 'node:assert/strict'
import { createHmac, createPublicKey } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { ALICE, BRAND, ISSUER, openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { base64url, utf8 } from '../base/encoding.ts'
import { systemClock } from '../base/time/clock.ts'
import { hours, seconds } from '../base/time/duration.ts'
import { epochSeconds, instant, plus } from '../base/time/instant.ts'
import { readTokenKeys } from './token-keys.ts'

const pki = await openEdgePki()
after(() => pki.close())
const keys = readTokenKeys(pki.jwks as never)
assert.ok(keys)

const now = systemClock.now()
const verify = (token: string, changes: object = {}) =>
  keys.verify(token, { issuers: [ISSUER], audience: BRAND, now, ...changes })

test('a good token names its session, identity, id, key and end', async () => {
  const exp = epochSeconds(now) + 600
  assert.deepEqual(await verify(await pki.token({ jti: 'j1', exp })), {
    outcome: 'good',
    token: {
      sessionId: ALICE.sessionId,
      identityId: ALICE.identityId,
      tokenId: 'j1',
      keyId: 'key-1',
      expiresAt: instant(exp * 1_000),
      boundTo: undefined,
      boundKey: undefined,
      login: undefined,
    },
  })
})

test('D-232: reads the policy of a token and what its login proved', async () => {
  const proven = { amr: ['ext-jwt'], z_ap: 'p1', z_ejs: 'signer-1', z_ca: 'ca-1' }
  const verdict = await verify(await pki.token(proven))
  assert.ok(verdict.outcome === 'good')
  assert.deepEqual(verdict.token.login, {
    policyId: 'p1',
    amr: ['ext-jwt'],
    signerId: 'signer-1',
    caId: 'ca-1',
  })
})

test('the certificate that a token is bound to is read', async () => {
  const verdict = await verify(await pki.token({ cnf: { 'x5t#S256': 'print' } }))
  assert.ok(verdict.outcome === 'good')
  assert.equal(verdict.token.boundTo, 'print')
})

test('a token ends at its exp without a second of leeway (D-35)', async () => {
  const exp = epochSeconds(now) + 600
  const token = await pki.token({ exp })
  const at = (moment: number) => verify(token, { now: instant(moment) })
  assert.equal((await at(exp * 1_000 - 1)).outcome, 'good')
  assert.equal((await at(exp * 1_000)).outcome, 'expired')
})

describe('a token is invalid', () => {
  const cases: Readonly<Record<string, () => Promise<string>>> = {
    'of another issuer': () => pki.token({ iss: 'https://elsewhere/oidc' }),
    'for another audience': () => pki.token({ aud: ['other'] }),
    'of another type': () => pki.token({}, { typ: 'JWT' }),
    'without a type': () => pki.token({}, { typ: undefined }),
    'that is an ID token by its claim': () => pki.token({ z_t: 'i' }),
    'without z_t': () => pki.token({ z_t: undefined }),
    'without a session': () => pki.token({ z_asid: undefined }),
    'whose session is not text': () => pki.token({ z_asid: ['s'] }),
    'without a subject': () => pki.token({ sub: undefined }),
    'without an id': () => pki.token({ jti: undefined }),
    'without an end': () => pki.token({ exp: undefined }),
    'of an unknown key': () => pki.token({}, { kid: 'other' }),
    'without a key id': () => pki.token({}, { kid: undefined }),
    'that is not a JWT': async () => 'not.a.token',
    'that is empty': async () => '',
    'that is endless': async () => `${'x'.repeat(40_000)}`,
  }
  for (const [what, make] of Object.entries(cases)) {
    test(what, async () => assert.equal((await verify(await make())).outcome, 'invalid'))
  }

  // R053: the header chooses the algorithm, and so must not.
  test('signed with nothing, or with the public key as a secret', async () => {
    const claims = (await pki.token()).split('.')[1]
    const head = (header: object) => base64url(utf8(JSON.stringify(header)))
    const none = `${head({ alg: 'none', typ: 'at+jwt', kid: 'key-1' })}.${claims}.`
    assert.equal((await verify(none)).outcome, 'invalid')

    const key = createPublicKey({ key: pki.jwks[0] as never, format: 'jwk' })
    const signed = `${head({ alg: 'HS256', typ: 'at+jwt', kid: 'key-1' })}.${claims}`
    for (const secret of [
      key.export({ format: 'pem', type: 'spki' }),
      key.export({ format: 'der', type: 'spki' }),
    ]) {
      const mac = createHmac('sha256', secret).update(signed).digest('base64url')
      assert.equal((await verify(`${signed}.${mac}`)).outcome, 'invalid')
    }
  })

  // R054: a key that the token brings along proves nothing.
  test('signed with a key that it brings along', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const token = await new SignJWT({ iss: ISSUER, aud: BRAND, sub: 'a', jti: 'j', z_t: 'a' })
      .setProtectedHeader({
        alg: 'ES256',
        typ: 'at+jwt',
        kid: 'key-1',
        jwk: await exportJWK(publicKey),
        jku: 'https://attacker.example/keys',
      })
      .setExpirationTime(epochSeconds(plus(now, hours(1))))
      .sign(privateKey)
    assert.equal((await verify(token)).outcome, 'invalid')
  })

  test('changed after it was signed', async () => {
    const [head, , signature] = (await pki.token()).split('.')
    const [, other] = (await pki.token({ z_asid: 'session-of-bob' })).split('.')
    assert.equal((await verify(`${head}.${other}.${signature}`)).outcome, 'invalid')
  })

  test('even when it has expired as well', async () => {
    const exp = epochSeconds(plus(now, seconds(-60)))
    assert.equal((await verify(await pki.token({ exp }))).outcome, 'expired')
    assert.equal((await verify(await pki.token({ exp, aud: 'other' }))).outcome, 'invalid')
  })
})

describe('of the keys of the feed', () => {
  test('those that we cannot use are passed over', async () => {
    const odd = [
      { kty: 'oct', kid: 'key-1', alg: 'HS256', k: 'c2VjcmV0' },
      { kty: 'EC', kid: 'broken', alg: 'ES256', crv: 'P-256', x: 'x', y: 'y' },
      { kty: 'RSA', kid: 'later', alg: 'ML-DSA-65' },
      { kty: 'EC' },
    ]
    const read = readTokenKeys([...odd, ...(pki.jwks as never[])])
    const verdict = await read?.verify(await pki.token(), {
      issuers: [ISSUER],
      audience: BRAND,
      now,
    })
    assert.equal(verdict?.outcome, 'good')
    assert.equal(readTokenKeys(odd), undefined)
  })

  test('each is good for its own algorithm alone', async () => {
    const mislabelled = pki.jwks.map((jwk) => ({ ...jwk, alg: 'RS256' }))
    const read = readTokenKeys(mislabelled)
    const verdict = await read?.verify(await pki.token(), {
      issuers: [ISSUER],
      audience: BRAND,
      now,
    })
    assert.equal(verdict?.outcome, 'invalid')
  })

  for (const algorithm of ['RS256', 'EdDSA'] as const) {
    test(`${algorithm} is taken`, async () => {
      const pair = await generateKeyPair(algorithm, { extractable: true })
      const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: algorithm }
      const claims = { iss: ISSUER, aud: BRAND, sub: 'a', jti: 'j', z_t: 'a', z_asid: 's' }
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid: 'k' })
        .setExpirationTime(epochSeconds(plus(now, hours(1))))
        .sign(pair.privateKey)
      const verdict = await readTokenKeys([jwk as never])?.verify(token, {
        issuers: [ISSUER],
        audience: BRAND,
        now,
      })
      assert.equal(verdict?.outcome, 'good')
    })
  }
})
