/**
 * With the compatibility layer there are several clients (D-314). What was issued to one of them is worth nothing to the
 * others, and they can neither spend nor end it. R031, D-7, D-30, D-31.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { seconds } from '../../../src/base/time/duration.ts'
import type { Reply } from '../../support/http-client.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { askForDevice, poll } from '../../support/login/device.ts'
import { answerOf, bearer, beginLogin, exchange, REDIRECT_URI } from '../../support/login/login.ts'
import { TOKEN_TYPES } from '../../support/login/openziti.ts'
import {
  assertOauthError,
  assertRefreshRefused,
  eventsOf,
  type OfflineTokens,
  post,
  refresh,
  refreshed,
  revoke,
} from '../../support/login/refresh.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const OWNER = 'openziti'
/** Known too, but not the ones that logged in. */
const OTHERS = ['native', 'service'] as const
const OTHER = OTHERS[0]

const LAYER = { config: { edge: { compatibility: 'openziti' } } } as const

/** The fields of a good exchange of a new code of the owner. */
async function obtainCode(service: Service) {
  const asked = { client_id: OWNER, scope: 'openid offline_access' }
  const { authRequestId, verifier } = await beginLogin(service, asked)
  const json = { authRequestId, ...ADMIN }
  const login = await service.call('/oidc/login/username', { json })
  // D-316: the first redirect of a program leads to the service, the second one to the client.
  const { pathname, search } = new URL(login.headers.location ?? '')
  const code = answerOf(await service.call(`${pathname}${search}`)).get('code') ?? ''
  return { client_id: OWNER, code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
}

async function logIn(service: Service): Promise<OfflineTokens> {
  const reply = await exchange(service, await obtainCode(service))
  assert.equal(reply.status, 200, reply.text)
  return reply.json()
}

function assertGrantRefused(reply: Reply): void {
  assertOauthError(reply, 400, 'invalid_grant')
  assert.equal(reply.json().code, 'INVALID_GRANT')
}

async function assertStands(service: Service, tokens: OfflineTokens): Promise<void> {
  assert.equal(await answerTo(service, tokens.access_token), 'taken')
  await refreshed(service, tokens.refresh_token, { client_id: OWNER })
}

const sessionOf = ({ access_token }: { readonly access_token: string }) =>
  String(decodeJwt(access_token)['z_asid'])

const refusals = async (service: Service) =>
  (await sql(service, "select distinct reason from events where type = 'token.refused'")).map(
    ({ reason }) => reason,
  )

test('the codes of several clients', async (t) => {
  const service = await startService(t, LAYER)
  service.clock.hold()

  await t.test(
    'R031: another known client does not consume a code, whatever else it sends',
    async () => {
      // Attack: spending a victim's code without its verifier, or with everything that belongs to it.
      const code = await obtainCode(service)
      for (const client_id of OTHERS) {
        for (const changes of [
          {},
          { code_verifier: 'x'.repeat(43) },
          { code_verifier: undefined },
          { redirect_uri: undefined },
        ]) {
          assertGrantRefused(await exchange(service, { ...code, ...changes, client_id }))
        }
      }
      assert.deepEqual(await refusals(service), ['client-mismatch'])
      const reply = await exchange(service, code)
      assert.equal(reply.status, 200, reply.text)
    },
  )

  await t.test('D-7: a wrong verifier of its own client still spends it', async () => {
    const code = await obtainCode(service)
    assertGrantRefused(await exchange(service, { ...code, code_verifier: 'x'.repeat(43) }))
    assertGrantRefused(await exchange(service, code))
  })

  await t.test(
    'R031: another known client does not end the session of a code that was exchanged',
    async () => {
      const code = await obtainCode(service)
      const tokens: OfflineTokens = (await exchange(service, code)).json()
      service.clock.advance(seconds(3))
      assertGrantRefused(await exchange(service, { ...code, client_id: OTHER }))
      const refusal = ['token.issued', 'token.refused: client-mismatch']
      assert.deepEqual(await eventsOf(service, sessionOf(tokens)), refusal)
      await assertStands(service, tokens)
      assertGrantRefused(await exchange(service, code))
      assert.equal(
        await answerTo(service, tokens.access_token),
        INVALID,
        'R030: its own client does',
      )
    },
  )
})

test('R031: a refresh token is refused to another known client, and not spent', async (t) => {
  const service = await startService(t, LAYER)
  const tokens = await logIn(service)
  const byExchange = (client_id: string, requested: string) =>
    post(service, '/oidc/oauth/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      client_id,
      subject_token: tokens.refresh_token,
      subject_token_type: `${TOKEN_TYPES}:refresh_token`,
      requested_token_type: `${TOKEN_TYPES}:${requested}`,
    })
  for (const client_id of OTHERS) {
    assertRefreshRefused(await refresh(service, tokens.refresh_token, { client_id }))
    assertRefreshRefused(await byExchange(client_id, 'refresh_token'))
    assertRefreshRefused(await byExchange(client_id, 'id_token'))
  }
  const next = await refreshed(service, tokens.refresh_token, { client_id: OWNER })
  // Spent now: another client that presents it does not end the session (R039).
  assertRefreshRefused(await byExchange(OTHER, 'id_token'))
  assertRefreshRefused(await refresh(service, tokens.refresh_token, { client_id: OTHER }))
  await assertStands(service, next)
})

test('R031: a device code is refused to another known client, and goes on waiting', async (t) => {
  const service = await startService(t, LAYER)
  const deviceCode = (await askForDevice(service, { client_id: OWNER })).json().device_code
  for (const client of OTHERS) assertGrantRefused(await poll(service, { deviceCode }, client))
  const own = await poll(service, { deviceCode }, OWNER)
  assertOauthError(own, 400, 'authorization_pending')
})

test('RFC 7009 §2.1: a token of another client is not revoked', async (t) => {
  const service = await startService(t, LAYER)
  const tokens = await logIn(service)
  const unknown = await revoke(service, 'never-issued', { client_id: OTHER })
  for (const client_id of OTHERS) {
    for (const token of [tokens.refresh_token, tokens.access_token]) {
      const reply = await revoke(service, token, { client_id })
      // D-31, R050: as for a token that never existed.
      assert.deepEqual([reply.status, reply.text], [unknown.status, unknown.text])
    }
  }
  assert.deepEqual(await sql(service, 'select * from session_endings'), [])
  assert.deepEqual(await eventsOf(service, sessionOf(tokens)), ['token.issued'])
  assert.equal(await answerTo(service, tokens.access_token), 'taken')
  const next = await refreshed(service, tokens.refresh_token, { client_id: OWNER })

  await t.test('but one of its own is', async () => {
    await revoke(service, next.access_token, { client_id: OWNER })
    assert.equal(await answerTo(service, next.access_token), INVALID)
    assert.equal(await answerTo(service, tokens.access_token), 'taken')
    await revoke(service, next.refresh_token, { client_id: OWNER })
    assert.equal(await answerTo(service, tokens.access_token), INVALID)
  })
})

test('D-30: client_id at end_session is the client of the token, or nothing ends', async (t) => {
  const service = await startService(t, LAYER)
  const tokens = await logIn(service)
  const hint = { id_token_hint: tokens.id_token }
  const bye = { post_logout_redirect_uri: 'http://127.0.0.1:9876/bye' }
  const byBearer = bearer(tokens.access_token)
  for (const client_id of OTHERS) {
    for (const reply of [
      await post(service, '/oidc/end_session', { client_id, ...hint }),
      await post(service, '/oidc/end_session', { client_id, ...hint, ...bye }),
      await post(service, '/oidc/end_session', { client_id, ...hint }, byBearer),
      await post(service, '/oidc/end_session', { client_id }, byBearer),
      await service.call(`/oidc/end_session?${new URLSearchParams({ client_id, ...hint })}`),
    ]) {
      assertOauthError(reply, 400, 'invalid_request')
      assert.equal(reply.json().code, 'COULD_NOT_VALIDATE')
      assert.match(reply.json().error_description, /client_id is not the client of the token/)
      assert.equal(reply.headers.location, undefined)
    }
  }
  assert.deepEqual(await eventsOf(service, sessionOf(tokens)), ['token.issued'])
  assert.equal(await answerTo(service, tokens.access_token), 'taken')

  for (const [what, client] of [
    ['its own client', { client_id: OWNER }],
    ['no client_id', {}],
  ] as const) {
    await t.test(`${what} ends the session`, async () => {
      const one = await logIn(service)
      const byHint = { ...client, id_token_hint: one.id_token }
      assert.equal((await post(service, '/oidc/end_session', byHint)).status, 200)
      assert.equal(await answerTo(service, one.access_token), INVALID)
      const other = await logIn(service)
      const reply = await post(service, '/oidc/end_session', client, bearer(other.access_token))
      assert.equal(reply.status, 200, reply.text)
      assert.equal(await answerTo(service, other.access_token), INVALID)
    })
  }
})
