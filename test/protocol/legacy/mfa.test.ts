/**
 * A person's own app, from start to removal: /current-identity/mfa on both APIs, for legacy and OIDC sessions. API 3.1;
 * D-17, D-19; R087, R089.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FreshRecoveryCodesReply,
  MfaEnrollmentReply,
  RecoveryCodesLeftReply,
  StartedMfaEnrollmentReply,
} from '../../../src/contract/mfa.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import {
  type AuthenticatorApp,
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  partialLogin,
  submitCode,
} from '../../support/login/authenticator-app.ts'
import { APIS, authenticate, CLIENT_API, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { answerOf, bearer } from '../../support/login/login.ts'
import { assertRefused, logInAs, startHeld } from '../../support/management.ts'
import type { Service } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

type SessionCall = (path: string, options?: CallOptions) => Promise<Reply>

/** A session of either kind, by how its calls are made. */
const KINDS: Readonly<
  Record<
    string,
    (service: Service, person: { username: string; password: string }) => Promise<SessionCall>
  >
> = {
  legacy: async (service, person) => callsOf(service, await legacyToken(service, person)),
  OIDC: async (service, person) => {
    const { headers } = bearer((await logInAs(service, person)).access_token)
    return (path, options = {}) =>
      service.call(path, { ...options, headers: { ...options.headers, ...headers } })
  },
}

for (const [kind, session] of Object.entries(KINDS)) {
  for (const api of APIS) {
    test(`API 3.1: the whole life of an app, in a full ${kind} session on ${api}`, async (t) => {
      const { service, admin } = await startHeld(t)
      const ada = await admin.createIdentity({ password: PASSWORD })
      const call = await session(service, ada)
      await wholeLife(service, call, api, ada)
      assert.equal((await admin.get(`/identities/${ada.id}`)).isMfaEnabled, false)
    })
  }
}

async function wholeLife(
  service: Service,
  call: SessionCall,
  api: string,
  person: { username: string; password: string },
): Promise<void> {
  const mfa = `${api}/current-identity/mfa`
  const isEnabled = async () => (await call(`${api}/current-identity`)).json().data.isMfaEnabled

  // Nothing yet.
  assertRefused(await call(mfa), 404, 'MFA_ENROLLMENT_NOT_STARTED')
  assertRefused(await call(`${mfa}/qr-code`), 404, 'MFA_ENROLLMENT_NOT_STARTED')
  assertRefused(await call(mfa, { method: 'DELETE' }), 404, 'MFA_ENROLLMENT_NOT_STARTED')
  const early = await call(`${mfa}/verify`, { json: { code: '00000x' } })
  assertRefused(early, 404, 'MFA_ENROLLMENT_NOT_STARTED')
  assertRefused(await call(`${mfa}/recovery-codes`), 409, 'MFA_NOT_ENROLLED')
  const none = await call(`${mfa}/recovery-codes`, { json: { code: '00000x' } })
  assertRefused(none, 409, 'MFA_NOT_ENROLLED')

  // Started, cancelled, started again.
  const first = await call(mfa, { method: 'POST' })
  assert.equal(first.status, 201, first.text)
  assert.deepEqual(StartedMfaEnrollmentReply.parse(first.json()), first.json())
  const cancelled = await call(mfa, { method: 'DELETE' })
  assert.equal(cancelled.status, 200, 'a pending one needs no code')
  assertRefused(await call(mfa), 404, 'MFA_ENROLLMENT_NOT_STARTED')
  await call(mfa, { method: 'POST' })
  const started = (await call(mfa, { method: 'POST' })).json().data
  assert.equal(started.isVerified, false)
  assert.equal(started.recoveryCodes.length, 20)

  // Read: the same without the recovery codes.
  const read = await call(mfa)
  assert.equal(read.status, 200, read.text)
  assert.deepEqual(MfaEnrollmentReply.parse(read.json()), read.json())
  const { recoveryCodes, ...withoutCodes } = started
  assert.deepEqual(read.json().data, withoutCodes)
  assert.equal(await isEnabled(), false)
  await assertQrCodes(call, mfa)

  // Verified.
  const app = authenticatorApp(started.provisioningUrl, service.clock)
  const wrong = await call(`${mfa}/verify`, { json: { code: app.wrongCode() } })
  assertRefused(wrong, 400, 'MFA_INVALID_TOKEN')
  const missing = await call(`${mfa}/verify`, { json: {} })
  assertRefused(missing, 400, 'COULD_NOT_VALIDATE', 'code')
  const verified = await call(`${mfa}/verify`, { form: [['code', app.code()]] })
  assert.equal(verified.status, 200, verified.text)
  assert.deepEqual(verified.json(), { data: {}, meta: {} })
  assert.equal(await isEnabled(), true)
  const after = (await call(mfa)).json().data
  assert.deepEqual(
    { id: after.id, isVerified: after.isVerified },
    { id: started.id, isVerified: true },
  )
  assert.equal('provisioningUrl' in after, false, 'a verified secret is shown to nobody')
  assertRefused(await call(`${mfa}/qr-code`), 404, 'MFA_ENROLLMENT_NOT_STARTED')
  assertRefused(await call(mfa, { method: 'POST' }), 409, 'MFA_EXISTS')
  const twice = await call(`${mfa}/verify`, { json: { code: app.code() } })
  assertRefused(twice, 404, 'MFA_ENROLLMENT_NOT_STARTED')

  await renewal(call, mfa, app, recoveryCodes)

  // Removed: a code is asked for, in the header or in the body.
  for (const options of [{}, { json: {} }]) {
    const none = await call(mfa, { method: 'DELETE', ...options })
    assertRefused(none, 400, 'COULD_NOT_VALIDATE', 'code')
  }
  const guess = await call(mfa, { method: 'DELETE', json: { code: app.wrongCode() } })
  assertRefused(guess, 400, 'MFA_INVALID_TOKEN')
  assert.equal(await isEnabled(), true)
  const code = app.nextCode()
  const inHeader = { method: 'DELETE', headers: { 'mfa-validation-code': code } }
  const inBody = { method: 'DELETE', json: { code } }
  const removed = await call(mfa, api === CLIENT_API ? inHeader : inBody)
  assert.equal(removed.status, 200, removed.text)
  assert.deepEqual(removed.json(), { data: {}, meta: {} })
  assertRefused(await call(mfa), 404, 'MFA_ENROLLMENT_NOT_STARTED')
  assert.equal((await authenticate(service, person)).headers['totp-required'], undefined)
}

async function assertQrCodes(call: SessionCall, mfa: string): Promise<void> {
  for (const [accept, type] of [
    ['image/png', 'image/png'],
    ['image/svg+xml', 'image/svg+xml'],
    ['image/svg+xml;q=0.5, image/png', 'image/png'],
  ] as const) {
    const reply = await call(`${mfa}/qr-code`, { headers: { accept } })
    assert.equal(reply.status, 200, reply.text)
    assert.ok(String(reply.headers['content-type']).startsWith(type), reply.text)
    assert.equal(reply.headers['cache-control'], 'no-store')
  }
  const refused = await call(`${mfa}/qr-code`, { headers: { accept: 'text/plain' } })
  assertRefused(refused, 406, 'NOT_ACCEPTABLE')
}

/** R087: how many are left, and new ones in the place of all of them. */
async function renewal(
  call: SessionCall,
  mfa: string,
  app: AuthenticatorApp,
  old: readonly string[],
): Promise<void> {
  const url = `${mfa}/recovery-codes`
  const left = async () => {
    const reply = await call(url)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(RecoveryCodesLeftReply.parse(reply.json()), reply.json())
    return reply.json().data.left
  }
  assert.equal(await left(), 20)
  assertRefused(await call(url, { method: 'POST' }), 400, 'COULD_NOT_VALIDATE', 'code')
  assertRefused(await call(url, { json: { code: app.wrongCode() } }), 400, 'MFA_INVALID_TOKEN')
  const repeated = {
    method: 'POST',
    headers: { 'mfa-validation-code': [app.code(1), app.code(1)] },
  }
  assertRefused(await call(url, repeated), 400, 'COULD_NOT_VALIDATE', 'mfa-validation-code')

  const renewed = await call(url, { json: { code: app.nextCode() } })
  assert.equal(renewed.status, 200, renewed.text)
  assert.deepEqual(FreshRecoveryCodesReply.parse(renewed.json()), renewed.json())
  assert.equal(renewed.headers['cache-control'], 'no-store')
  const fresh: string[] = renewed.json().data.recoveryCodes
  assert.equal(new Set(fresh).size, 20)
  assert.equal(await left(), 20)
  const stale = old.find((code) => !fresh.includes(code)) ?? ''
  assertRefused(await call(url, { json: { code: stale } }), 400, 'MFA_INVALID_TOKEN')
  // A recovery code is a code: it pays for new ones, and is gone with the rest.
  const [one = ''] = fresh
  const again = await call(url, { method: 'POST', headers: { 'mfa-validation-code': one } })
  assert.equal(again.status, 200, again.text)
  assert.equal(await left(), 20)
  const next: string[] = again.json().data.recoveryCodes
  const spent = fresh.find((code) => !next.includes(code)) ?? ''
  assertRefused(await call(url, { json: { code: spent } }), 400, 'MFA_INVALID_TOKEN')
}

test('R089: new recovery codes work at a login, and a code that bought them does not', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const call = callsOf(service, await legacyToken(service, ada))
  await call(`${CLIENT_API}/authenticate/mfa`, { json: { code: ada.app.nextCode() } })
  const code = ada.app.nextCode()
  const url = `${CLIENT_API}/current-identity/mfa/recovery-codes`
  const { recoveryCodes } = (await call(url, { json: { code } })).json().data
  const { authRequestId } = await partialLogin(service, ada)
  assertRefused(await submitCode(service, authRequestId, code), 400, 'MFA_INVALID_TOKEN')
  assert.ok(answerOf(await submitCode(service, authRequestId, recoveryCodes[7])).get('code'))
  assert.equal((await call(url)).json().data.left, 19)
})

test('R085: of many renewals with one code at the same moment one wins', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const call = callsOf(service, await legacyToken(service, ada))
  await call(`${CLIENT_API}/authenticate/mfa`, { json: { code: ada.app.nextCode() } })
  const json = { code: ada.app.nextCode() }
  const replies = await Promise.all(
    Array.from({ length: 4 }, () =>
      call(`${CLIENT_API}/current-identity/mfa/recovery-codes`, { json }),
    ),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assertRefused(reply, 400, 'MFA_INVALID_TOKEN')
  }
})

test('D-16: removing the app leaves the session alone', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const call = callsOf(service, await legacyToken(service, ada))
  await call(`${CLIENT_API}/authenticate/mfa`, { json: { code: ada.app.nextCode() } })
  const json = { code: ada.app.nextCode() }
  const removed = await call(`${CLIENT_API}/current-identity/mfa`, { method: 'DELETE', json })
  assert.equal(removed.status, 200, removed.text)
  assert.equal((await call(`${CLIENT_API}/current-identity`)).status, 200)
})

test('R109: an app that comes or goes, and new recovery codes, leave events', async (t) => {
  const { service, admin } = await startHeld(t)
  const ada = await enrolledPerson(service, admin)
  const call = callsOf(service, await legacyToken(service, ada))
  const mfa = `${CLIENT_API}/current-identity/mfa`
  await call(`${CLIENT_API}/authenticate/mfa`, { json: { code: ada.app.nextCode() } })
  await call(`${mfa}/recovery-codes`, { json: { code: ada.app.nextCode() } })
  await call(mfa, { method: 'DELETE', json: { code: ada.app.nextCode() } })
  const rows = await sql(
    service,
    `select type from events where identity_id = '${ada.id}' and type like 'mfa.%' order by at, type`,
  )
  assert.deepEqual(rows.map((row) => row['type']).toSorted(), [
    'mfa.enrolled',
    'mfa.recovery-codes-renewed',
    'mfa.removed',
  ])
})
