/**
 * Tokens that only we could have signed but never would: made with the real key, they show that every check stands on
 * its own and does not lean on the signature. D-35, R053–R059.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt, exportJWK, generateKeyPair } from 'jose'
import {
  answerTo,
  assertInvalid,
  EXPIRED,
  IDENTITY,
  INVALID,
  MISSING,
} from '../../support/login/challenges.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { startService } from '../../support/service.ts'
import { thiefOf } from '../../support/signing.ts'

test('tokens that our own key has signed and that are no access tokens of ours', async (t) => {
  const service = await startService(t)
  const { access_token: genuine } = await logIn(service)
  const thief = await thiefOf(service, genuine)
  const { iss, exp, iat } = decodeJwt(genuine)
  const now = Math.floor(service.clock.now() / 1_000)

  await t.test(
    'the thief signs what the service takes, so that the refusals mean something',
    async () => {
      assert.equal(await answerTo(service, await thief.sign({})), 'taken')
      assert.equal(
        await answerTo(service, await thief.sign({}, { typ: 'application/at+jwt' })),
        'taken',
      )
    },
  )

  await t.test('R054: jku, x5u, jwk and x5c beside a good signature are ignored', async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true })
    for (const header of [
      { jku: 'https://attacker.example/keys' },
      { x5u: 'https://attacker.example/chain' },
      { jwk: await exportJWK(publicKey) },
      { x5c: ['MIIB'] },
    ]) {
      assert.equal(await answerTo(service, await thief.sign({}, header)), 'taken')
    }
  })

  await t.test('R054: an unknown critical extension is refused', async () => {
    await assertInvalid(service, {
      unknown: await thief.sign({}, { crit: ['x'], x: 1 }),
      'a name that is a URL': await thief.sign(
        {},
        { crit: ['https://x.example/'], 'https://x.example/': true },
      ),
      'one known and one unknown': await thief.sign({}, { crit: ['b64', 'x'], b64: true, x: 1 }),
    })
  })

  await t.test('R055: only the types of an access token open the API', async () => {
    await assertInvalid(service, {
      'typ of an ID token': await thief.sign({}, { typ: 'JWT' }),
      'no typ': await thief.sign({}, { typ: undefined }),
      'typ logout+jwt': await thief.sign({}, { typ: 'logout+jwt' }),
      'typ secevent+jwt': await thief.sign({}, { typ: 'secevent+jwt' }),
      'typ that is no text': await thief.sign({}, { typ: 7 }),
      'z_t of a refresh token': await thief.sign({ z_t: 'r' }),
      'no z_t': await thief.sign({ z_t: undefined }),
      'z_t in capitals': await thief.sign({ z_t: 'A' }),
    })
  })

  await t.test(
    'R056: exp in the past is expired; an invalid time, or nbf in the future, is invalid',
    async () => {
      assert.equal(await answerTo(service, await thief.sign({ exp: now })), EXPIRED)
      assert.equal(await answerTo(service, await thief.sign({ exp: 0 })), EXPIRED)
      await assertInvalid(service, {
        'no exp': await thief.sign({ exp: undefined }),
        'exp that is a text': await thief.sign({ exp: String(exp) }),
        'exp that is null': await thief.sign({ exp: null }),
        'no iat': await thief.sign({ iat: undefined }),
        'iat that is a text': await thief.sign({ iat: String(iat) }),
        'nbf to come': await thief.sign({ nbf: now + 3_600 }),
        'nbf that is a text': await thief.sign({ nbf: '0' }),
      })
      assert.equal(await answerTo(service, await thief.sign({ nbf: now - 60 })), 'taken')
    },
  )

  await t.test('R056: what is wrong besides being expired is not called expired', async () => {
    const past = { exp: now - 10 }
    await assertInvalid(service, {
      'wrong audience': await thief.sign({ ...past, aud: ['other'] }),
      'wrong type': await thief.sign(past, { typ: 'JWT' }),
    })
  })

  await t.test('R057: the audience must be ours', async () => {
    const audiences = [['other'], 'other', [], '', 'Service', ['service '], undefined, null, 7]
    for (const aud of audiences) {
      await assertInvalid(service, { [`aud ${JSON.stringify(aud)}`]: await thief.sign({ aud }) })
    }
  })

  await t.test('R057: an issuer that is not a single text is refused', async () => {
    for (const value of [[iss], [iss, 'https://idp.example/'], { a: iss }, 7, null, undefined]) {
      const token = await thief.sign({ iss: value })
      await assertInvalid(service, { [`iss ${JSON.stringify(value)}`]: token })
    }
  })

  await t.test('D-35: a token of another issuer is not ours to judge', async () => {
    const issuers = [
      'https://idp.example/',
      `${iss}/`,
      String(iss).toUpperCase(),
      String(iss).replace('https', 'http'),
      String(iss).replace(/\/oidc$/, ''),
      '',
    ]
    for (const value of issuers) {
      assert.equal(await answerTo(service, await thief.sign({ iss: value })), MISSING, value)
    }
  })

  await t.test('R058: a token of any of our issuers is taken at every address', async () => {
    const issuers = service.instance.listeners.flatMap(({ baseUrls }) => baseUrls)
    assert.ok(issuers.length > 1)
    for (const base of issuers) {
      assert.equal(await answerTo(service, await thief.sign({ iss: `${base}/oidc` })), 'taken')
    }
  })

  await t.test('R059: claims of the wrong type are refused', async () => {
    const wrong: Readonly<Record<string, readonly unknown[]>> = {
      sub: [7, null, ['x'], { id: 'x' }, undefined],
      z_asid: [7, null, undefined],
      z_ia: ['true', 1, null, undefined],
      z_ct: ['x', {}, [7], undefined],
      z_ap: [7, null, undefined],
    }
    for (const [claim, values] of Object.entries(wrong)) {
      for (const value of values) {
        const token = await thief.sign({ [claim]: value })
        await assertInvalid(service, { [`${claim} ${JSON.stringify(value)}`]: token })
      }
    }
  })

  await t.test(
    'R059: a payload that is not a JSON object of single members is refused',
    async () => {
      const claims = JSON.stringify(decodeJwt(genuine))
      await assertInvalid(service, {
        'a list': await thief.signText(`[${claims}]`),
        null: await thief.signText('null'),
        'not JSON': await thief.signText(claims.slice(1)),
        nothing: await thief.signText(''),
        'a claim named twice': await thief.signText(claims.replace('{', '{"z_ia":false,')),
        'an issuer named twice': await thief.signText(
          claims.replace('{', '{"iss":"https://idp.example/",'),
        ),
      })
    },
  )

  await t.test(
    'R059: huge and deeply nested tokens are refused, and the service goes on',
    async () => {
      const nested = (depth: number) =>
        `{"iss":"${iss}","x":${'['.repeat(depth)}${']'.repeat(depth)}}`
      await assertInvalid(service, {
        'nested 100 deep': await thief.signText(nested(100)),
        'nested 5000 deep': await thief.signText(nested(5_000)),
        'of dots': '.'.repeat(20_000),
        'of zeros': '0'.repeat(20_000),
        'a large sub': await thief.sign({ sub: 'x'.repeat(15_000), aud: 'other' }),
      })
      const huge = await service.call(IDENTITY, bearer('x'.repeat(100_000)))
      assert.equal(huge.status, 431)
      assert.equal(huge.json().error.code, 'HEADERS_TOO_LARGE')
      assert.equal(await answerTo(service, genuine), 'taken')
    },
  )

  await t.test(
    'R055: a token of a session or identity that does not exist opens nothing',
    async () => {
      assert.equal(await answerTo(service, await thief.sign({ sub: 'nobody' })), INVALID)
      const path = '/edge/client/v1/current-api-session'
      const reply = await service.call(path, bearer(await thief.sign({ z_asid: 'none' })))
      assert.equal(reply.headers['www-authenticate'], INVALID)
    },
  )
})

test('R053: a signature of our own RSA key under another algorithm than the key has is refused', async (t) => {
  const config = { edge: { oidc: { signingAlgorithm: 'RS256' } } }
  const service = await startService(t, { config })
  const thief = await thiefOf(service, (await logIn(service)).access_token)
  assert.equal(await answerTo(service, await thief.sign({}, { alg: 'RS256' })), 'taken')
  for (const alg of ['RS384', 'RS512', 'PS256', 'PS512']) {
    await assertInvalid(service, { [alg]: await thief.sign({}, { alg }) })
  }
})

test('D-320, R055: a key for one kind of token makes no token of the other', async (t) => {
  // Attack: the key for ID tokens has leaked, and signs access tokens of an administrator; or a logout hint is signed
  // with the key for access tokens.
  const service = await startService(t)
  const { access_token, id_token } = await logIn(service)
  const withIdKey = await thiefOf(service, access_token, 'id')
  await assertInvalid(service, { 'signed by the key for ID tokens': await withIdKey.sign({}) })
  const userinfo = await service.call('/oidc/userinfo', bearer(await withIdKey.sign({})))
  assert.deepEqual([userinfo.status, userinfo.headers['www-authenticate']], [401, INVALID])
  const withAccessKey = await thiefOf(service, id_token, 'access')
  const hint = await withAccessKey.sign({}, { typ: 'JWT' })
  const refused = await service.call(`/oidc/end_session?id_token_hint=${hint}`)
  assert.equal(refused.status, 400)
  assert.equal(refused.json().code, 'INVALID_ID_TOKEN_HINT')
  assert.equal(await answerTo(service, access_token), 'taken', 'nothing has ended')
})
