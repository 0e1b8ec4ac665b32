/**
 * Every row of the table in SPEC States and transitions / Auth request, over TLS. A title names its row: the state, the
 * trigger and, where the table has one, the condition.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  enrolledPerson,
  PASSWORD,
  partialLogin,
  submitCode,
  totpPolicy,
} from '../../support/login/authenticator-app.ts'
import {
  answerOf,
  authorizationParameters,
  authorize,
  bearer,
  beginLogin,
  exchangeOf,
  pkce,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { assertRefused, startHeld } from '../../support/management.ts'
import { ADMIN, forAll, type Service } from '../../support/service.ts'

const WRONG = { ...ADMIN, password: 'wrong horse battery' }

/** The state as a client can tell it: what the endpoints of a login say to the id. */
async function stateOf(service: Service, id: string): Promise<string> {
  const queries = await service.call(`/oidc/login/auth-queries?id=${id}`)
  if (queries.status === 400) return 'over'
  assert.equal(queries.status, 200, queries.text)
  const totp = await service.call(`/oidc/login/totp?id=${id}`)
  return totp.status === 200 ? 'partially authenticated' : 'awaiting primary credentials'
}

function assertCode(reply: Awaited<ReturnType<Service['call']>>): void {
  const target = reply.headers.location ?? ''
  assert.ok(target.startsWith(`${REDIRECT_URI}?`), `${reply.status} ${target}`)
  assert.ok(answerOf(reply).get('code'))
}

describe('an auth request', () => {
  const held = forAll(startHeld)

  test('SPEC Auth request: (none), GET /oidc/authorization with a valid PKCE request', async () => {
    const { service } = held
    for (const [method, path] of [
      [undefined, '/oidc/login/username'],
      ['password', '/oidc/login/username'],
      ['cert', '/oidc/login/cert'],
      ['ext-jwt', '/oidc/login/ext-jwt'],
    ] as const) {
      const reply = await authorize(service, authorizationParameters(pkce().challenge, { method }))
      assert.equal(reply.status, 302, reply.text)
      const location = new URL(reply.headers.location ?? '', service.baseUrl)
      assert.equal(location.origin, service.baseUrl)
      assert.equal(location.pathname, path)
      assert.deepEqual([...location.searchParams.keys()], ['authRequestID'])
      const id = location.searchParams.get('authRequestID') ?? ''
      assert.equal(await stateOf(service, id), 'awaiting primary credentials')
    }
  })

  test('SPEC Auth request: awaiting primary credentials, accepted, no secondary factor required', async () => {
    const { service } = held
    const login = await beginLogin(service)
    const reply = await submitPassword(service, login.authRequestId)
    assertCode(reply)
    assert.equal(reply.headers['totp-required'], undefined)
    assert.equal(await stateOf(service, login.authRequestId), 'over')
  })

  test('SPEC Auth request: awaiting primary credentials, accepted, secondary factors outstanding', async () => {
    const { service, admin } = held
    const ada = await admin.createIdentity({ password: PASSWORD, policy: await totpPolicy(admin) })
    const { reply, authRequestId } = await partialLogin(service, ada)
    assert.deepEqual(Object.keys(reply.json()), ['authQueries'])
    assert.equal(reply.json().authQueries.length, 1)
    assert.equal(reply.json().authQueries[0].typeId, 'MFA')
    assert.equal(reply.headers['totp-required'], 'true')
    assert.equal(/[?&"]code["=]/.test(reply.text), false, 'no code is issued')
    assert.equal(await stateOf(service, authRequestId), 'partially authenticated')
  })

  test('SPEC Auth request: awaiting primary credentials, failed: they may be retried', async () => {
    const { service } = held
    const { authRequestId } = await beginLogin(service)
    for (let attempt = 0; attempt < 3; attempt += 1) {
      assertRefused(await submitPassword(service, authRequestId, WRONG), 401, 'INVALID_AUTH')
      assert.equal(await stateOf(service, authRequestId), 'awaiting primary credentials')
    }
    assertCode(await submitPassword(service, authRequestId))
  })

  test('SPEC Auth request: partially authenticated, POST /oidc/login/totp, the code is valid', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const { authRequestId } = await partialLogin(service, ada)
    assertCode(await submitCode(service, authRequestId, ada.app.code()))
    assert.equal(await stateOf(service, authRequestId), 'over')
  })

  test('SPEC Auth request: partially authenticated, POST /oidc/login/totp, the code is invalid', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const { authRequestId } = await partialLogin(service, ada)
    const reply = await submitCode(service, authRequestId, ada.app.wrongCode())
    assertRefused(reply, 400, 'MFA_INVALID_TOKEN')
    assert.match(reply.json().error.message, /code/)
    assert.match(reply.json().error.message, /not valid|invalid|wrong/)
    assert.equal(await stateOf(service, authRequestId), 'partially authenticated')
    assertCode(await submitCode(service, authRequestId, ada.app.code()))
  })

  test('SPEC Auth request: code issued, POST /oidc/token with a valid code and verifier', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const login = await partialLogin(service, ada)
    const reply = await submitCode(service, login.authRequestId, ada.app.code())
    const exchanged = await exchangeOf(service, login, reply)
    assert.equal(exchanged.status, 200, exchanged.text)
    const tokens = exchanged.json()
    assert.equal(decodeJwt(tokens.access_token).sub, ada.id)
    assert.equal(decodeJwt(tokens.id_token).sub, ada.id)
    // D-25: both factors are told, and that they were two.
    for (const token of [tokens.access_token, tokens.id_token]) {
      assert.deepEqual(decodeJwt(token)['amr'], ['pwd', 'otp', 'mfa'])
    }
    const call = await service.call('/edge/client/v1/current-identity', bearer(tokens.access_token))
    assert.equal(call.status, 200, call.text)
    assert.equal(call.json().data.id, ada.id)
    assert.equal(await stateOf(service, login.authRequestId), 'over')
  })

  test('R026: while partially authenticated only the login endpoints work', async () => {
    const { service, admin } = held
    const ada = await enrolledPerson(service, admin)
    const login = await partialLogin(service, ada)
    for (const credential of [login.authRequestId, login.verifier, ada.app.code()]) {
      for (const path of ['/edge/client/v1/current-identity', '/edge/management/v1/identities']) {
        for (const headers of [bearer(credential).headers, { 'zt-session': credential }]) {
          assertRefused(await service.call(path, { headers }), 401, 'UNAUTHORIZED')
        }
      }
      const form: [string, string][] = [
        ['grant_type', 'authorization_code'],
        ['client_id', 'service'],
        ['code', credential],
        ['code_verifier', login.verifier],
        ['redirect_uri', REDIRECT_URI],
      ]
      const exchanged = await service.call('/oidc/token', { form })
      assert.equal(exchanged.status, 400)
      assert.equal(exchanged.json().error, 'invalid_grant')
    }
  })
})
