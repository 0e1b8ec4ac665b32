/**
 * Ending all sessions of an identity also ends its logins in progress: codes that are not exchanged, logins that wait
 * for a second factor, and a proof that a browser holds while it is at an IdP. D-34, D-122, D-226; R047.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { enrolledPerson } from '../../support/certificates/renewal.ts'
import { type KnownIdp, registerIdp } from '../../support/idp/jwt-login.ts'
import { openAccount } from '../../support/login/account.ts'
import {
  assertCodeRefused,
  byCertificate,
  byJwt,
  byPassword,
  codeBy,
  tokensBy,
  type Way,
  ztTokenBy,
} from '../../support/login/begun.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { CLIENT_API, callsOf } from '../../support/login/legacy.ts'
import { bearer, beginLogin, exchange } from '../../support/login/login.ts'
import {
  assertOauthError,
  assertRefreshRefused,
  refresh,
  refreshed,
} from '../../support/login/refresh.ts'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

const openssl = await openOpenssl()
after(() => openssl.close())

const PASSWORD = 'a perfectly fine password'

interface Person {
  readonly service: Service
  readonly admin: Administrator
  readonly id: string
  readonly username: string
  readonly password: string
  readonly authenticatorId: string
  readonly way: Way
}

/** Creates a user with a password and a certificate, who logs in with one of them. */
async function person(service: Service, admin: Administrator, by: 'password' | 'certificate') {
  const { identityId: id, certificate } = await enrolledPerson(service, admin, openssl)
  const username = `user-${id}`
  const updb = { method: 'updb', identityId: id, username, password: PASSWORD }
  const authenticatorId = await admin.create('/authenticators', updb)
  const credentials = { username, password: PASSWORD }
  const way =
    by === 'password' ? byPassword(service, credentials) : byCertificate(service, certificate)
  return { service, admin, id, ...credentials, authenticatorId, way }
}

/** Calls of the user's own session, by password, at the client API. */
const ownCalls = async ({ service, username, password }: Person) =>
  callsOf(service, await ztTokenBy(byPassword(service, { username, password })))

async function changeOwnPassword(one: Person): Promise<void> {
  const call = await ownCalls(one)
  const reply = await call(`${CLIENT_API}/current-identity/authenticators/${one.authenticatorId}`, {
    method: 'PATCH',
    json: { currentPassword: one.password, password: 'another perfectly fine password' },
  })
  assert.equal(reply.status, 200, reply.text)
}

/** "Sign out all other sessions", on the user's account page. */
async function endOthers({ service, username, password }: Person): Promise<void> {
  await ztTokenBy(byPassword(service, { username, password }))
  const { send } = await openAccount(service, { username, password })
  const reply = await send('/account/sessions', '/account/sessions/end-others')
  assert.equal(reply.status, 303, reply.text)
}

/** What ends all sessions of a user: how, and the reason in the audit log for a code from before. */
const ENDS: Readonly<
  Record<string, readonly [end: (one: Person) => Promise<void>, reason: string]>
> = {
  'an administrator ends all sessions of the identity': [
    ({ admin, id }) => admin.act('DELETE', `/identities/${id}/api-sessions`),
    'login-voided',
  ],
  'the identity is disabled and enabled again': [
    async ({ admin, id }) => {
      await admin.act('POST', `/identities/${id}/disable`, { durationMinutes: 0 })
      await admin.act('POST', `/identities/${id}/enable`)
    },
    'login-voided',
  ],
  'the identity is disabled': [
    ({ admin, id }) => admin.act('POST', `/identities/${id}/disable`, { durationMinutes: 0 }),
    'identity-disabled',
  ],
  'the identity gets another external id': [
    ({ admin, id }) => admin.act('PATCH', `/identities/${id}`, { externalId: `other-${id}` }),
    'login-voided',
  ],
  'the identity becomes an administrator': [
    ({ admin, id }) => admin.act('PATCH', `/identities/${id}`, { isAdmin: true }),
    'login-voided',
  ],
  'an administrator sets another password': [
    ({ admin, authenticatorId }) =>
      admin.act('PATCH', `/authenticators/${authenticatorId}`, {
        password: 'another perfectly fine password',
      }),
    'login-voided',
  ],
  'its holder changes the password': [changeOwnPassword, 'login-voided'],
  'its holder ends all other sessions': [endOthers, 'login-voided'],
}

test('D-226: refuses an earlier code, whatever it was proven with', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  for (const [what, [end, reason]] of Object.entries(ENDS)) {
    for (const by of ['password', 'certificate'] as const) {
      await t.test(`when ${what}; by ${by}`, async () => {
        const one = await person(service, admin, by)
        const code = await codeBy(service, one.way)
        const other = await person(service, admin, by)
        const theirs = await codeBy(service, other.way)
        await end(one)
        await assertCodeRefused(service, code, reason)
        const untouched = await exchange(service, { ...theirs })
        assert.equal(untouched.status, 200, 'of that identity alone')
      })
    }
  }
})

test('D-226: if the identity may log in, the next login begins a session', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const one = await person(service, admin, 'certificate')
  await ENDS['the identity is disabled and enabled again']?.[0](one)
  await tokensBy(service, one.way)
  await ztTokenBy(one.way)
})

test('D-226: ending all sessions of all identities voids every code', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const people = [
    await person(service, admin, 'password'),
    await person(service, admin, 'certificate'),
  ]
  const ways = [...people.map(({ way }) => way), byPassword(service, ADMIN)]
  const codes = []
  for (const way of ways) codes.push(await codeBy(service, way))
  await admin.act('POST', '/api-sessions/end-all', { confirm: true })
  for (const code of codes) await assertCodeRefused(service, code, 'login-voided')
  for (const way of ways) await tokensBy(service, way)
})

test('D-226: no session is left if a code is exchanged while another instance ends all sessions', async (t) => {
  // Attack: a thief exchanges a stolen code at the moment when its owner is logged out everywhere.
  const shared = await installation(await migratedDatabase())
  const [a, b] = await Promise.all([shared.start(t), shared.start(t)])
  const admin = await administrate(b)
  const identity = await admin.createIdentity({ password: PASSWORD })
  for (let i = 0; i < 8; i++) {
    const code = await codeBy(a, byPassword(a, identity))
    const [exchanged] = await Promise.all([
      exchange(a, { ...code }),
      admin.act('DELETE', `/identities/${identity.id}/api-sessions`),
    ])
    if (exchanged.status === 200) {
      const { refresh_token } = exchanged.json()
      assertRefreshRefused(await refresh(a, refresh_token))
    } else {
      assertOauthError(exchanged, 400, 'invalid_grant')
    }
    assert.deepEqual(await admin.get(`/identities/${identity.id}/api-sessions`), [])
  }
})

test('D-226: a session that changed its own password continues, and can be refreshed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const one = await person(service, admin, 'password')
  const tokens = await tokensBy(service, one.way)
  const reply = await service.call(
    `${CLIENT_API}/current-identity/authenticators/${one.authenticatorId}`,
    {
      method: 'PATCH',
      ...bearer(tokens.access_token),
      json: { currentPassword: PASSWORD, password: 'another perfectly fine password' },
    },
  )
  assert.equal(reply.status, 200, reply.text)
  const again = await refreshed(service, tokens.refresh_token)
  assert.equal(await answerTo(service, again.access_token), 'taken')
})

test('D-226: a login that waits for its second factor has to start again', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const policy = await admin.createPolicy({ secondary: { requireTotp: true } })
  const identity = await admin.createIdentity({ password: PASSWORD, policy })
  const { authRequestId } = await beginLogin(service)
  const waiting = await byPassword(service, identity).submit(authRequestId)
  assert.equal(waiting.status, 200, waiting.text)
  const queries = () => service.call(`/oidc/login/auth-queries?id=${authRequestId}`)
  assert.equal((await queries()).status, 200)
  await admin.act('DELETE', `/identities/${identity.id}/api-sessions`)
  for (const reply of [
    await queries(),
    await service.call('/oidc/login/totp/enroll', { json: { authRequestId } }),
    await service.call('/oidc/login/totp', { json: { authRequestId, code: '123456' } }),
  ]) {
    assertRefused(reply, 400, 'INVALID_AUTH_REQUEST')
  }
})

test('D-225: a second JWT whose signer is disabled no longer counts', async (t: TestContext) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const issuer = 'https://second.example.org'
  const idp: KnownIdp = await registerIdp(t, service, admin, { issuer, useExternalId: false })
  const policy = await admin.createPolicy({ secondary: { requireExtJwt: idp.id } })
  const identity = await admin.createIdentity({ password: PASSWORD, policy })
  const jwt = await idp.jwt(identity.id)
  const json = { username: identity.username, password: PASSWORD }
  const way: Way = {
    ...byJwt(service, jwt),
    submit: (authRequestId) =>
      service.call('/oidc/login/username', { ...bearer(jwt), json: { authRequestId, ...json } }),
  }
  const tokens = await tokensBy(service, way)
  const code = await codeBy(service, way)
  await admin.act('PATCH', `/external-jwt-signers/${idp.id}`, { enabled: false })
  const refused = await refresh(service, tokens.refresh_token)
  assert.equal(refused.json().error, 'invalid_grant')
  await assertCodeRefused(service, code, 'signer-disabled')
  assert.notEqual(await answerTo(service, tokens.access_token), INVALID, 'the JWT is asked for')
})
