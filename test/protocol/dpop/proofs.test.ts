/**
 * Proofs of a key at the token endpoint and on calls: what is accepted, and each way in which a proof can be wrong.
 * RFC 9449 §4.3, §5, §7, §8; D-450 to D-453.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { decodeJwt, exportJWK, SignJWT, UnsecuredJWT } from 'jose'
import { hours, minutes, seconds } from '../../../src/base/time/duration.ts'
import type { Reply } from '../../support/http-client.ts'
import { jwtPart } from '../../support/jwt-part.ts'
import { IDENTITY, INVALID } from '../../support/login/challenges.ts'
import {
  boundCall,
  callWithProof,
  codeForm,
  dpopKey,
  dpopProof,
  freshNonce,
  hashOf,
  logInWithKey,
  type ProofParts,
  postToken,
  refreshForm,
  tokenRequest,
} from '../../support/login/dpop.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import {
  assertOauthError,
  assertRefreshRefused,
  logInOffline,
} from '../../support/login/refresh.ts'
import { type Service, startService } from '../../support/service.ts'

const ALGS = 'algs="ES256 ES384 EdDSA Ed25519 PS256 RS256"'
const INVALID_PROOF =
  'DPoP realm="service-oidc", error="invalid_dpop_proof", ' +
  `error_description="the DPoP proof is missing, not valid or was used before", ${ALGS}`
const USE_NONCE =
  'DPoP realm="service-oidc", error="use_dpop_nonce", ' +
  `error_description="the DPoP proof must have the nonce of the DPoP-Nonce field", ${ALGS}`
const INVALID_TOKEN = `DPoP realm="service-oidc", error="invalid", error_description="token is invalid", ${ALGS}`
const EXPIRED_TOKEN = `DPoP realm="service-oidc", error="expired", error_description="token expired", ${ALGS}`

function assertChallenge(reply: Reply, challenge: string, next: string): void {
  assert.equal(reply.status, 401, reply.text)
  assert.equal(reply.headers['www-authenticate'], challenge)
  assert.equal(reply.json().error.code, 'UNAUTHORIZED')
  assert.equal(reply.json().error.next, next)
}

test('DPoP', async (t) => {
  const service = await startService(t)
  const key = await dpopKey()
  const other = await dpopKey()

  await t.test('discovery names the algorithms of proofs', async () => {
    const document = (await service.call('/oidc/.well-known/openid-configuration')).json()
    assert.deepEqual(document.dpop_signing_alg_values_supported, [
      'ES256',
      'ES384',
      'EdDSA',
      'Ed25519',
      'PS256',
      'RS256',
    ])
  })

  for (const algorithm of ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256', 'RS256']) {
    await t.test(
      `tokens are bound to a key of ${algorithm}, and accepted with its proof`,
      async () => {
        const own = await dpopKey(algorithm)
        const tokens = await logInWithKey(service, own)
        assert.equal(tokens.token_type, 'DPoP')
        assert.deepEqual(decodeJwt(tokens.access_token)['cnf'], { jkt: own.jkt })
        const reply = await boundCall(service, own, tokens.access_token, IDENTITY)
        assert.equal(reply.status, 200, reply.text)
        assert.equal(reply.headers['dpop-nonce'], await freshNonce(service))
      },
    )
  }

  await t.test('a client without a proof gets bearer tokens, as before', async () => {
    const tokens = await logIn(service)
    assert.equal(tokens.token_type, 'Bearer')
    assert.equal(decodeJwt(tokens.access_token)['cnf'], undefined)
  })

  await t.test(
    'userinfo, the management API and a call with a query accept the token with its proof',
    async () => {
      const { access_token } = await logInWithKey(service, key)
      for (const path of [
        '/oidc/userinfo',
        '/edge/management/v1/identities',
        '/edge/management/v1/identities/',
      ]) {
        const reply = await boundCall(service, key, access_token, path)
        if (!path.endsWith('/')) assert.equal(reply.status, 200, reply.text)
      }
      const path = '/edge/management/v1/identities'
      const proof = await dpopProof(service, key, {
        method: 'GET',
        url: `${service.baseUrl}${path}`,
        nonce: await freshNonce(service),
        token: access_token,
      })
      const reply = await callWithProof(service, `${path}?limit=1`, access_token, proof)
      assert.equal(reply.status, 200, reply.text)
    },
  )

  await t.test('RFC 9449 §4.3: the address is compared after normalization', async () => {
    const { access_token } = await logInWithKey(service, key)
    const { host } = new URL(service.baseUrl)
    for (const url of [
      `HTTPS://${host.toUpperCase()}${IDENTITY}`,
      `https://${host}/edge/./client/v1/x/../current-identity`,
      `https://${host}/edge/client/v1/current%2didentity`,
      `https://${host}${IDENTITY}?a=b#c`,
    ]) {
      const reply = await boundCall(service, key, access_token, IDENTITY, { url })
      assert.equal(reply.status, 200, `${url}: ${reply.text}`)
    }
  })

  const wrongParts: Readonly<Record<string, () => Promise<Partial<ProofParts>>>> = {
    'another method': async () => ({ method: 'PUT' }),
    'another path': async () => ({ url: `${service.baseUrl}/edge/client/v1/version` }),
    'another host': async () => ({ url: `https://evil.example${IDENTITY}` }),
    'plain http': async () => ({ url: `${service.baseUrl.replace('https', 'http')}${IDENTITY}` }),
    'an address that is not one': async () => ({ url: 'current-identity' }),
    'an iat that is too old': async () => ({ claims: { iat: epochSecondsOf(service) - 86_401 } }),
    'an iat in the future': async () => ({ claims: { iat: epochSecondsOf(service) + 86_402 } }),
    'no iat': async () => ({ claims: { iat: undefined } }),
    'a text as iat': async () => ({ claims: { iat: String(epochSecondsOf(service)) } }),
    'no jti': async () => ({ claims: { jti: undefined } }),
    'a huge jti': async () => ({ claims: { jti: 'x'.repeat(257) } }),
    'another type': async () => ({ header: { typ: 'JWT' } }),
    'a nonce that is not a text': async () => ({ claims: { nonce: 7 } }),
    'a critical extension': async () => ({ header: { crit: ['b64'], b64: true } }),
    'no key': async () => ({ header: { jwk: undefined } }),
    'the private key': async () => ({ header: { jwk: await exportJWK(key.privateKey) } }),
    'the key of another client, which did not sign it': async () => ({
      header: { jwk: other.jwk },
    }),
    'a symmetric key': async () => ({ header: { jwk: { kty: 'oct', k: 'c2VjcmV0' } } }),
    'a point that is not on the curve': async () => ({
      header: { jwk: { ...key.jwk, x: key.jwk.y, y: key.jwk.x } },
    }),
    'more than its greatest length': async () => ({ claims: { filler: 'x'.repeat(5_000) } }),
  }

  for (const [what, parts] of Object.entries(wrongParts)) {
    // Attack: someone who has the token, and a proof of its client for something else, or a key of their own.
    await t.test(`a call is refused if the proof has ${what}`, async () => {
      const { access_token } = await logInWithKey(service, key)
      const reply = await boundCall(service, key, access_token, IDENTITY, await parts())
      assertChallenge(reply, INVALID_PROOF, 'fix-client')
    })
  }

  const wrongAtToken = Object.keys(wrongParts).filter(
    (what) => !what.startsWith('another') && what !== 'plain http',
  )
  await t.test('a token request is refused for the same faults, and spends nothing', async () => {
    const form = await codeForm(service)
    for (const what of [...wrongAtToken, 'another method', 'another host']) {
      const reply = await tokenRequest(service, key, form, await wrongParts[what]?.())
      assertOauthError(reply, 400, 'invalid_dpop_proof')
      assert.equal(reply.json().code, 'INVALID_DPOP_PROOF', what)
    }
    assert.equal((await tokenRequest(service, key, form)).status, 200)
  })

  await t.test('an unsigned proof and one with a shared secret are refused', async () => {
    const { access_token } = await logInWithKey(service, key)
    const claims = {
      jti: randomUUID(),
      htm: 'GET',
      htu: `${service.baseUrl}${IDENTITY}`,
      iat: epochSecondsOf(service),
      nonce: await freshNonce(service),
      ath: hashOf(access_token),
    }
    const none = `${jwtPart({ typ: 'dpop+jwt', alg: 'none', jwk: key.jwk })}.${jwtPart(claims)}.`
    const shared = await new SignJWT(claims)
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'HS256', jwk: key.jwk })
      .sign(Buffer.alloc(32))
    for (const proof of [none, new UnsecuredJWT(claims).encode(), shared, 'x', '', 'a.b.c']) {
      const reply = await callWithProof(service, IDENTITY, access_token, proof)
      assertChallenge(reply, INVALID_PROOF, 'fix-client')
    }
  })

  await t.test('a proof for another access token is refused', async () => {
    const { access_token } = await logInWithKey(service, key)
    const second = await logInWithKey(service, key)
    for (const claims of [
      { ath: hashOf(second.access_token) },
      { ath: undefined },
      { ath: access_token },
    ]) {
      const reply = await boundCall(service, key, access_token, IDENTITY, { claims })
      assertChallenge(reply, INVALID_PROOF, 'fix-client')
    }
  })

  await t.test('a valid proof of another key is refused', async () => {
    const { access_token } = await logInWithKey(service, key)
    const reply = await boundCall(service, other, access_token, IDENTITY)
    assertChallenge(reply, INVALID_TOKEN, 'sign-in')
  })

  await t.test('two proofs, and none, are refused', async () => {
    const { access_token } = await logInWithKey(service, key)
    const nonce = await freshNonce(service)
    const parts = {
      method: 'GET',
      url: `${service.baseUrl}${IDENTITY}`,
      nonce,
      token: access_token,
    }
    const proofs = [await dpopProof(service, key, parts), await dpopProof(service, key, parts)]
    const authorization = `DPoP ${access_token}`
    const two = await service.call(IDENTITY, { headers: { authorization, dpop: proofs } })
    assertChallenge(two, INVALID_PROOF, 'fix-client')
    const none = await service.call(IDENTITY, { headers: { authorization } })
    assertChallenge(none, INVALID_PROOF, 'fix-client')
    assert.ok(none.headers['dpop-nonce'])
    const twoAtToken = await postToken(service, refreshForm('x'), { dpop: proofs })
    assert.equal(twoAtToken.json().code, 'INVALID_DPOP_PROOF')
  })

  // Attack: the token is copied from a log or a disk, and presented without the key.
  await t.test('a bound token is refused as a bearer token, with or without a proof', async () => {
    const { access_token } = await logInWithKey(service, key)
    const reply = await service.call(IDENTITY, bearer(access_token))
    assertChallenge(reply, INVALID_TOKEN, 'prove-key')
    const parts = { method: 'GET', url: `${service.baseUrl}${IDENTITY}`, token: access_token }
    const nonce = await freshNonce(service)
    const dpop = await dpopProof(service, key, { ...parts, nonce })
    const headers = { ...bearer(access_token).headers, dpop }
    assertChallenge(await service.call(IDENTITY, { headers }), INVALID_TOKEN, 'prove-key')
    const userinfo = await service.call('/oidc/userinfo', bearer(access_token))
    assert.equal(userinfo.headers['www-authenticate'], INVALID_TOKEN)
  })

  await t.test('a bearer token is refused as a DPoP token', async () => {
    const { access_token } = await logIn(service)
    const reply = await boundCall(service, key, access_token, IDENTITY)
    assertChallenge(reply, INVALID_TOKEN, 'sign-in')
    const garbage = await boundCall(service, key, 'garbage', IDENTITY)
    assertChallenge(garbage, INVALID_TOKEN, 'sign-in')
  })

  await t.test('two tokens of ours are refused, whatever their schemes', async () => {
    const bound = await logInWithKey(service, key)
    const free = await logIn(service)
    const authorization = [`DPoP ${bound.access_token}`, `Bearer ${free.access_token}`]
    for (const fields of [authorization, authorization.toReversed()]) {
      const reply = await boundCall(
        service,
        key,
        bound.access_token,
        IDENTITY,
        {},
        {
          headers: { authorization: fields },
        },
      )
      assertChallenge(reply, INVALID_TOKEN, 'sign-in')
    }
  })

  // Attack: a proof is recorded on its way, and sent again.
  await t.test('a proof counts once, on a call and at the token endpoint', async () => {
    const { access_token } = await logInWithKey(service, key)
    const proof = await dpopProof(service, key, {
      method: 'GET',
      url: `${service.baseUrl}${IDENTITY}`,
      nonce: await freshNonce(service),
      token: access_token,
    })
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => callWithProof(service, IDENTITY, access_token, proof)),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    const refused = replies.find(({ status }) => status !== 200)
    assert.ok(refused)
    assertChallenge(refused, INVALID_PROOF, 'fix-client')

    const claims = { jti: randomUUID() }
    const first = await tokenRequest(service, key, await codeForm(service), { claims })
    assert.equal(first.status, 200, first.text)
    const form = await codeForm(service)
    const again = await tokenRequest(service, key, form, { claims })
    assert.equal(again.json().code, 'INVALID_DPOP_PROOF')
    const withOther = await tokenRequest(service, other, form, { claims })
    assert.equal(
      withOther.status,
      200,
      'the jti of another key is another proof, and the code is unspent',
    )
  })

  await t.test('a nonce is required, and is good for a minute or two', async () => {
    const { access_token } = await logInWithKey(service, key)
    const old = await freshNonce(service)
    const form = await codeForm(service)
    for (const nonce of [undefined, '', 'somebody-elses', old.toUpperCase()]) {
      const reply = await boundCall(service, key, access_token, IDENTITY, { nonce })
      assertChallenge(reply, USE_NONCE, 'prove-key')
      assert.equal(reply.headers['dpop-nonce'], await freshNonce(service))
      const atToken = await tokenRequest(service, key, form, { nonce })
      assertOauthError(atToken, 400, 'use_dpop_nonce')
      assert.equal(atToken.json().code, 'USE_DPOP_NONCE')
      assert.equal(atToken.headers['dpop-nonce'], await freshNonce(service))
    }
    service.clock.advance(seconds(30))
    const soon = await boundCall(service, key, access_token, IDENTITY, { nonce: old })
    assert.equal(soon.status, 200, soon.text)
    service.clock.advance(minutes(2))
    const late = await boundCall(service, key, access_token, IDENTITY, { nonce: old })
    assertChallenge(late, USE_NONCE, 'prove-key')
  })

  await t.test('an expired bound token gets a challenge of its own scheme', async () => {
    const { access_token } = await logInWithKey(service, key)
    service.clock.advance(hours(1))
    const reply = await boundCall(service, key, access_token, IDENTITY)
    assertChallenge(reply, EXPIRED_TOKEN, 'refresh')
  })

  await t.test(
    'RFC 9449 §5: a session that began with a key is refreshed with that key alone',
    async () => {
      const tokens = await logInWithKey(service, key)
      // Attack: the refresh token is stolen without the key, and used for bearer tokens (downgrade).
      const without = await postToken(service, refreshForm(tokens.refresh_token))
      assert.equal(without.json().code, 'INVALID_DPOP_PROOF', without.text)
      assertRefreshRefused(await tokenRequest(service, other, refreshForm(tokens.refresh_token)))
      const reply = await tokenRequest(service, key, refreshForm(tokens.refresh_token))
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.json().token_type, 'DPoP')
      assert.deepEqual(decodeJwt(reply.json().access_token)['cnf'], { jkt: key.jkt })
      const again = await tokenRequest(service, key, refreshForm(reply.json().refresh_token))
      assert.equal(again.status, 200, again.text)
    },
  )

  await t.test(
    'D-453: a session without a key can get bound access tokens, and stays as it is',
    async () => {
      const first = await logInOffline(service)
      const bound = await tokenRequest(service, key, refreshForm(first.refresh_token))
      assert.equal(bound.json().token_type, 'DPoP', bound.text)
      const free = await postToken(service, refreshForm(bound.json().refresh_token))
      assert.equal(free.json().token_type, 'Bearer', free.text)
    },
  )

  await t.test('RFC 9449 §10: a code with dpop_jkt is exchanged with that key alone', async () => {
    const asked = { dpop_jkt: key.jkt }
    const good = await tokenRequest(service, key, await codeForm(service, asked))
    assert.equal(good.status, 200, good.text)
    const form = await codeForm(service, asked)
    assertOauthError(await tokenRequest(service, other, form), 400, 'invalid_grant')
    assertOauthError(await tokenRequest(service, key, form), 400, 'invalid_grant')
    const without = await postToken(service, await codeForm(service, asked))
    assertOauthError(without, 400, 'invalid_grant')
  })

  await t.test('introspection names the scheme and the key of a bound token', async () => {
    const tokens = await logInWithKey(service, key)
    const { access_token } = await logIn(service)
    const introspect = async (token: string) => {
      const form = [['token', token]] as const
      return (await service.call('/oidc/introspect', { ...bearer(access_token), form })).json()
    }
    const found = await introspect(tokens.access_token)
    assert.equal(found.token_type, 'DPoP')
    assert.deepEqual(found.cnf, { jkt: key.jkt })
    assert.deepEqual((await introspect(tokens.refresh_token)).cnf, { jkt: key.jkt })
    assert.equal((await introspect(access_token)).token_type, 'Bearer')
  })

  await t.test('bearer challenges are as the SPEC has them', async () => {
    assert.equal((await service.call(IDENTITY, bearer('x'))).headers['www-authenticate'], INVALID)
  })
})

function epochSecondsOf({ clock }: Service): number {
  return Math.floor(clock.now() / 1_000)
}
