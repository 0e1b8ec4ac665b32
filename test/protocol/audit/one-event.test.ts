/**
 * R109: each login success, failure, lock, refresh, reuse, revocation, certificate issue and configuration change is one
 * event with time, actor, source and correlation id. API 4.8. What an administrator changes besides is in
 * test/protocol/management/events.test.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { seconds } from '../../../src/base/time/duration.ts'
import { EventListReply } from '../../../src/contract/management/events.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import type { Reply } from '../../support/http-client.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import {
  answerOf,
  bearer,
  beginLogin,
  exchange,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { logInOffline, post, refresh, refreshed, revoke } from '../../support/login/refresh.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'
const AGENT = 'the-client-of-the-test/1.0'

test('R109: everything that happens to a session is one event', async (t) => {
  const plain = await startService(t)
  const service: typeof plain = {
    ...plain,
    call: (path, options = {}) =>
      plain.call(path, { ...options, headers: { 'user-agent': AGENT, ...options.headers } }),
  }
  const admin = await administrate(service)
  const policy = await admin.createPolicy({
    primary: { updb: { allowed: true, maxAttempts: 2, lockoutDurationMinutes: 5 } },
  })
  const ada = await admin.createIdentity({ name: 'ada', password: PASSWORD, policy })
  const actorId = decodeJwt(admin.token).sub

  /** The events of one answer: exactly these types, each with when, from where, and by which request. */
  async function assertEvents(
    reply: Reply,
    expected: Readonly<
      Record<string, { readonly reason?: string; readonly actorId?: string | undefined }>
    >,
  ) {
    const requestId = reply.headers['x-request-id']
    const filter = encodeURIComponent(`requestId = "${requestId}"`)
    const { data } = EventListReply.parse(
      (await admin.call('GET', `/events?filter=${filter}`)).json(),
    )
    assert.deepEqual(
      data.map(({ type }) => type).toSorted(),
      Object.keys(expected).toSorted(),
      reply.text,
    )
    for (const event of data) {
      const wanted = expected[event.type]
      assert.equal(event.reason, wanted?.reason ?? null, event.type)
      assert.equal(event.actorId, wanted?.actorId ?? null, event.type)
      assert.equal(event.address, '127.0.0.1')
      assert.equal(event.userAgent, AGENT)
      assert.equal(event.requestId, requestId)
      assert.ok(Math.abs(Date.parse(event.at) - plain.clock.now()) < 60_000)
    }
    return data
  }

  async function login() {
    const { verifier, authRequestId } = await beginLogin(service, {
      scope: 'openid offline_access',
    })
    const { username, password } = ada
    const done = await submitPassword(service, authRequestId, { username, password })
    const code = answerOf(done).get('code') ?? ''
    const tokens = await exchange(service, {
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
    })
    return { done, tokens, code, verifier }
  }

  await t.test('a login that succeeds, and the tokens that follow', async () => {
    const { done, tokens } = await login()
    const [succeeded] = await assertEvents(done, { 'login.succeeded': {} })
    assert.equal(succeeded?.identityId, ada.id)
    const [issued] = await assertEvents(tokens, { 'token.issued': {} })
    assert.equal(issued?.sessionId, decodeJwt(tokens.json().access_token)['z_asid'])
  })

  await t.test('a login that fails, and the failure that locks', async () => {
    const attempt = async () => {
      const { authRequestId } = await beginLogin(service)
      return submitPassword(service, authRequestId, { username: 'ada', password: 'wrong' })
    }
    await assertEvents(await attempt(), { 'login.failed': { reason: 'wrong-password' } })
    await assertEvents(await attempt(), {
      'login.failed': { reason: 'wrong-password' },
      'login.locked': {},
    })
    const { authRequestId } = await beginLogin(service)
    const locked = await submitPassword(service, authRequestId, {
      username: 'ada',
      password: PASSWORD,
    })
    assert.equal(locked.status, 401)
    await assertEvents(locked, { 'login.failed': { reason: 'password-locked' } })
    const [authenticator] = await admin.get(`/identities/${ada.id}/authenticators`)
    const unlocked = await admin.call('POST', `/authenticators/${authenticator.id}/unlock`)
    await assertEvents(unlocked, { 'authenticator.unlocked': { actorId } })
  })

  await t.test('a refresh, and a refresh token that comes again too late', async () => {
    const first = await logInOffline(service)
    const reply = await refresh(service, first.refresh_token)
    assert.equal(reply.status, 200)
    await assertEvents(reply, { 'token.refreshed': {} })
    plain.clock.advance(seconds(11))
    const reused = await refresh(service, first.refresh_token)
    assert.equal(reused.status, 400)
    await assertEvents(reused, {
      'token.reused': {},
      'session.ended': { reason: 'refresh-token-reused' },
    })
  })

  await t.test('a code that comes again too late', async () => {
    const { code, verifier } = await login()
    plain.clock.advance(seconds(3))
    const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
    await assertEvents(await exchange(service, form), {
      'session.ended': { reason: 'code-reused' },
      'token.refused': { reason: 'code-spent' },
    })
  })

  await t.test(
    'revocations: of an access token, and of a refresh token with its session',
    async () => {
      const tokens = await refreshed(service, (await logInOffline(service)).refresh_token)
      await assertEvents(await revoke(service, tokens.access_token), { 'token.revoked': {} })
      // Once is enough: nothing more happened.
      await assertEvents(await revoke(service, tokens.access_token), {})
      await assertEvents(await revoke(service, tokens.refresh_token), {
        'session.ended': { reason: 'revoked' },
      })
      await assertEvents(await revoke(service, tokens.refresh_token), {})
    },
  )

  await t.test('a certificate, its removal, and logout', async () => {
    const { access_token, id_token } = await logInOffline(service)
    const { pem } = await makeCsr()
    const url = `${CLIENT_API}/current-api-session/certificates`
    const caller = { actorId: decodeJwt(access_token).sub }
    const issued = await service.call(url, { ...bearer(access_token), json: { csr: pem } })
    assert.equal(issued.status, 201, issued.text)
    await assertEvents(issued, { 'certificate.issued': caller })
    const { id } = issued.json().data
    const removed = await service.call(`${url}/${id}`, {
      method: 'DELETE',
      ...bearer(access_token),
    })
    await assertEvents(removed, { 'certificate.removed': caller })
    const loggedOut = await post(service, '/oidc/end_session', { id_token_hint: id_token })
    assert.equal(loggedOut.status, 200, loggedOut.text)
    await assertEvents(loggedOut, { 'session.ended': { reason: 'logout' } })
  })

  await t.test('changes of the configuration, with who made them', async () => {
    const made = await admin.call('POST', '/auth-policies', {
      name: 'another',
      primary: { updb: { allowed: true } },
    })
    await assertEvents(made, { 'policy.created': { actorId } })
    const disabled = await admin.call('POST', `/identities/${ada.id}/disable`, {})
    const data = await assertEventsOf(disabled)
    assert.equal(data.filter(({ type }) => type === 'identity.disabled').length, 1)
    for (const event of data) assert.equal(event.actorId, actorId)
    const rotated = await admin.call('POST', '/signing-keys', {})
    const keys = await assertEventsOf(rotated)
    assert.deepEqual(keys.map(({ type, details }) => [type, details?.['purpose']]).toSorted(), [
      ['signing-key.created', 'access'],
      ['signing-key.created', 'id'],
    ])
    for (const event of keys) assert.equal(event.actorId, actorId)
  })

  /** Of an answer that ends sessions too, or creates several keys: one event for each. */
  async function assertEventsOf(reply: Reply) {
    assert.ok(reply.status < 300, reply.text)
    const filter = encodeURIComponent(`requestId = "${reply.headers['x-request-id']}"`)
    return EventListReply.parse((await admin.call('GET', `/events?filter=${filter}`)).json()).data
  }
})
