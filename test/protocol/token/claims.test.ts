/** What the tokens say, claim by claim, for every signing algorithm. SPEC Access token; D-24, D-25, D-9. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import { seconds } from '../../../src/base/time/duration.ts'
import {
  answerOf,
  authorizationParameters,
  authorize,
  bearer,
  beginLogin,
  exchange,
  logIn,
  pkce,
  REDIRECT_URI,
  type Tokens,
} from '../../support/login/login.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

/** The hash inside `at_hash`: OIDC Core §3.1.3.6, and for Ed25519 the one that RFC 8032 signs with. */
const ALGORITHMS = [
  { algorithm: 'ES256', hash: 'sha256' },
  { algorithm: 'RS256', hash: 'sha256' },
  { algorithm: 'EdDSA', hash: 'sha512' },
] as const

for (const { algorithm, hash } of ALGORITHMS) {
  test(`tokens signed with ${algorithm}`, async (t) => {
    const oidc = { signingAlgorithm: algorithm, idTokenAlgorithm: algorithm }
    const config = { edge: { oidc } }
    const service = await startService(t, { config })
    service.clock.hold()
    const now = Math.floor(service.clock.now() / 1_000)
    const issuer = `${service.baseUrl}/oidc`
    const tokens = await logIn(service, { scope: 'openid profile', nonce: 'a nonce' })
    const access = decodeJwt(tokens.access_token)
    const [identity] = await sql(service, "select id from identities where name = 'admin'")
    const [session] = await sql(service, 'select id from api_sessions')

    await t.test('both tokens verify with the published keys of that algorithm', async () => {
      const keys = createLocalJWKSet((await service.call('/oidc/keys')).json())
      for (const token of [tokens.access_token, tokens.id_token]) {
        const { protectedHeader } = await jwtVerify(token, keys, { algorithms: [algorithm] })
        assert.equal(protectedHeader.alg, algorithm)
      }
    })

    await t.test('D-24: the header of the access token is that of RFC 9068', () => {
      const { alg, typ, kid, ...rest } = decodeProtectedHeader(tokens.access_token)
      assert.deepEqual({ alg, typ, rest }, { alg: algorithm, typ: 'at+jwt', rest: {} })
      assert.equal(typeof kid, 'string')
    })

    await t.test('D-24: the access token has exactly these claims', () => {
      const { jti, ...rest } = access
      assert.deepEqual(rest, {
        iss: issuer,
        sub: identity?.['id'],
        aud: ['service'],
        exp: now + 1_800,
        iat: now,
        client_id: 'service',
        roles: [],
        z_rv: 0,
        auth_time: now,
        amr: ['pwd'],
        acr: 'urn:latchkey:acr:1fa',
        scope: 'openid profile',
        z_asid: session?.['id'],
        z_ia: true,
        z_ct: [],
        z_t: 'a',
        z_ice: false,
        z_ap: 'default',
      })
      assert.ok(Buffer.from(jti ?? '', 'base64url').length >= 16)
    })

    await t.test('D-25: the header of the ID token is not that of an access token', () => {
      const { alg, typ, kid, ...rest } = decodeProtectedHeader(tokens.id_token)
      assert.deepEqual({ alg, typ, rest }, { alg: algorithm, typ: 'JWT', rest: {} })
      assert.notEqual(kid, decodeProtectedHeader(tokens.access_token).kid, 'D-320')
    })

    await t.test('D-25: the ID token has exactly these claims', () => {
      const digest = createHash(hash).update(tokens.access_token).digest()
      assert.deepEqual(decodeJwt(tokens.id_token), {
        iss: issuer,
        sub: identity?.['id'],
        aud: 'service',
        azp: 'service',
        exp: now + 1_800,
        iat: now,
        auth_time: now,
        nonce: 'a nonce',
        amr: ['pwd'],
        acr: 'urn:latchkey:acr:1fa',
        at_hash: digest.subarray(0, digest.length / 2).toString('base64url'),
        sid: session?.['id'],
        name: 'admin',
        preferred_username: 'admin',
      })
    })

    await t.test('R016: without a nonce in the request there is none in the ID token', async () => {
      assert.equal('nonce' in decodeJwt((await logIn(service)).id_token), false)
    })

    await t.test('every login has its own session and its own jti', async () => {
      const other = decodeJwt((await logIn(service)).access_token)
      assert.notEqual(other['z_asid'], access['z_asid'])
      assert.notEqual(other.jti, access.jti)
      assert.equal(other.sub, access.sub)
    })

    await t.test('the service takes its own token', async () => {
      const call = await service.call(
        '/edge/client/v1/current-identity',
        bearer(tokens.access_token),
      )
      assert.equal(call.status, 200, call.text)
    })
  })
}

test('OIDC Core §3.1.3.6: at_hash follows the algorithm of the ID token, not that of the access token', async (t) => {
  const config = { edge: { oidc: { signingAlgorithm: 'EdDSA', idTokenAlgorithm: 'RS256' } } }
  const { access_token, id_token } = await logIn(await startService(t, { config }))
  const digest = createHash('sha256').update(access_token).digest()
  assert.equal(decodeJwt(id_token)['at_hash'], digest.subarray(0, 16).toString('base64url'))
})

test('claims that follow the identity and the request', async (t) => {
  const service = await startService(t)
  const claims = async (changes: Record<string, string> = {}): Promise<JWTPayload> =>
    decodeJwt((await logIn(service, changes)).access_token)

  await t.test('D-24: z_ia is false for every identity that is not an administrator', async () => {
    await sql(service, 'update identities set is_admin = 0')
    assert.equal((await claims())['z_ia'], false)
    await sql(service, 'update identities set is_admin = 1')
    assert.equal((await claims())['z_ia'], true)
  })

  await t.test('D-24: z_eid is there when the identity has an external id', async () => {
    assert.equal('z_eid' in (await claims()), false)
    await sql(service, "update identities set external_id = 'zoe@example.org'")
    assert.equal((await claims())['z_eid'], 'zoe@example.org')
  })

  await t.test('R019: scope is what was granted, without unknown values', async () => {
    assert.equal((await claims({ scope: 'profile email openid' }))['scope'], 'openid profile')
  })

  await t.test('D-24: auth_time is the moment of the password, not of the exchange', async () => {
    service.clock.hold()
    const { authRequestId, verifier } = await beginLogin(service)
    const code = answerOf(await submit(service, { authRequestId })).get('code') ?? ''
    const at = Math.floor(service.clock.now() / 1_000)
    service.clock.advance(seconds(30))
    const tokens = await exchanged(service, { code, verifier })
    for (const token of [tokens.access_token, tokens.id_token]) {
      const { iat, auth_time } = decodeJwt(token)
      assert.equal(auth_time, at)
      assert.equal(iat, at + 30)
    }
  })

  await t.test('D-2: iss is the address that the login was begun at', async () => {
    const { authRequestId, verifier } = await beginLogin(service)
    assert.equal(decodeJwt((await logIn(service)).id_token).iss, `${service.baseUrl}/oidc`)
    const other = { ...service, baseUrl: service.baseUrl.replace('localhost', '127.0.0.1') }
    const elsewhere: Service = {
      ...other,
      call: (path, options) => service.client.call(`${other.baseUrl}${path}`, options),
    }
    assert.equal(decodeJwt((await logIn(elsewhere)).id_token).iss, `${other.baseUrl}/oidc`)
    // Begun at one address, finished at the other: the issuer is that of the beginning.
    const code = answerOf(await submit(elsewhere, { authRequestId })).get('code') ?? ''
    const tokens = await exchanged(elsewhere, { code, verifier })
    assert.equal(decodeJwt(tokens.access_token).iss, `${service.baseUrl}/oidc`)
  })
})

test('D-9: configTypes become z_ct', async (t) => {
  const service = await startService(t)

  /** A login with configTypes in the query and in the login body, up to its code. */
  async function login(inQuery: readonly string[], inBody: object) {
    const { verifier, challenge } = pkce()
    const parameters = authorizationParameters(challenge)
    for (const id of inQuery) parameters.append('configTypes', id)
    const begun = await authorize(service, parameters)
    const authRequestId = begun.headers['auth-request-id']
    assert.ok(authRequestId, begun.text)
    return { verifier, reply: await submit(service, { authRequestId, ...inBody }) }
  }

  async function zct(inQuery: readonly string[], inBody: object): Promise<unknown> {
    const { verifier, reply } = await login(inQuery, inBody)
    const tokens = await exchanged(service, { code: answerOf(reply).get('code') ?? '', verifier })
    const path = '/edge/client/v1/current-api-session'
    const session = await service.call(path, bearer(tokens.access_token))
    const claimed = decodeJwt(tokens.access_token)['z_ct']
    assert.deepEqual(session.json().data.configTypes, claimed)
    return claimed
  }

  await t.test('the union of query and body without repeats, in the order of arrival', async () => {
    assert.deepEqual(await zct(['b', 'a', 'b'], { configTypes: ['c', 'a'] }), ['b', 'a', 'c'])
    assert.deepEqual(await zct([], { configTypes: ['x'] }), ['x'])
    assert.deepEqual(await zct(['x'], {}), ['x'])
    assert.deepEqual(await zct([], { configTypes: 'single' }), ['single'])
  })

  await t.test('a form repeats the field', async () => {
    const { authRequestId, verifier } = await beginLogin(service)
    const fields = Object.entries({ authRequestId, ...ADMIN })
    const form: [string, string][] = [...fields, ['configTypes', 'a'], ['configTypes', 'b']]
    const reply = await service.call('/oidc/login/username', { form })
    const tokens = await exchanged(service, { code: answerOf(reply).get('code') ?? '', verifier })
    assert.deepEqual(decodeJwt(tokens.access_token)['z_ct'], ['a', 'b'])
  })

  await t.test('64 ids and 2 KiB are taken', async () => {
    const ids = Array.from({ length: 64 }, (_, i) => `${i}`.padStart(32, '-'))
    assert.deepEqual(await zct(ids, {}), ids)
    assert.deepEqual(await zct(ids.slice(0, 10), { configTypes: ids.slice(10) }), ids)
  })

  await t.test('more in the query goes back to the client as invalid_request', async () => {
    for (const ids of [Array.from({ length: 65 }, (_, i) => `${i}`), ['x'.repeat(2_049)]]) {
      const parameters = authorizationParameters(pkce().challenge)
      for (const id of ids) parameters.append('configTypes', id)
      const answer = answerOf(await authorize(service, parameters))
      assert.equal(answer.get('error'), 'invalid_request')
      assert.match(answer.get('error_description') ?? '', /configTypes/)
    }
  })

  await t.test('more in the body is refused, and the answer names the field', async () => {
    const many = Array.from({ length: 63 }, (_, i) => `${i}`)
    for (const configTypes of [['x', 'y'], ['x'.repeat(2_049)], [7], [{ id: 'x' }]]) {
      const { reply } = await login(many, { configTypes })
      assert.equal(reply.status, 400, reply.text)
      assert.equal(reply.json().error.code, 'COULD_NOT_VALIDATE')
      assert.equal(reply.json().error.cause.field, 'configTypes')
    }
  })
})

function submit(service: Service, body: object) {
  return service.call('/oidc/login/username', { json: { ...ADMIN, ...body } })
}

async function exchanged(
  service: Service,
  { code, verifier }: { code: string; verifier: string },
): Promise<Tokens> {
  const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
  const reply = await exchange(service, form)
  assert.equal(reply.status, 200, reply.text)
  return reply.json()
}
