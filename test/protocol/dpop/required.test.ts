/**
 * Policies that require bound tokens: `secondary.requireBoundToken`. Enforced when tokens are issued and refreshed, on
 * every call, at introspection, and for legacy sessions. D-454, D-455.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IDENTITY, INVALID, NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import {
  boundCall,
  codeForm,
  dpopKey,
  logInWithKey,
  postToken,
  refreshForm,
  tokenRequest,
} from '../../support/login/dpop.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { assertRefreshRefused, logInOffline } from '../../support/login/refresh.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

test('D-454: a policy that requires bound tokens', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const policy = await admin.createPolicy()
  const { username } = await admin.createIdentity({ policy, password: PASSWORD })
  const person = { username, password: PASSWORD }
  const key = await dpopKey()
  const require = (requireBoundToken: boolean) =>
    admin.act('PATCH', `/auth-policies/${policy}`, { secondary: { requireBoundToken } })

  await t.test('does not issue a token that is not bound, and spends nothing', async () => {
    await require(true)
    const form = await codeForm(service, {}, person)
    const refused = await postToken(service, form)
    assert.equal(refused.json().code, 'INVALID_DPOP_PROOF', refused.text)
    const reply = await tokenRequest(service, key, form)
    assert.equal(reply.status, 200, reply.text)
    const { access_token } = reply.json()
    assert.equal((await boundCall(service, key, access_token, IDENTITY)).status, 200)
    await require(false)
  })

  await t.test(
    'refuses the next call, refresh and introspection of sessions that are not',
    async () => {
      const free = await logInOffline(service, {}, person)
      const bound = await logInWithKey(service, key, person)
      const { access_token: ofAdmin } = await logIn(service)
      const isActive = async (token: string) => {
        const form = [['token', token]] as const
        const reply = await service.call('/oidc/introspect', { ...bearer(ofAdmin), form })
        return reply.json().active
      }
      assert.equal((await service.call(IDENTITY, bearer(free.access_token))).status, 200)
      await require(true)
      const call = await service.call(IDENTITY, bearer(free.access_token))
      assert.equal(call.headers['www-authenticate'], INVALID)
      assert.equal(await isActive(free.access_token), false)
      assert.equal(await isActive(free.refresh_token), false)
      assertRefreshRefused(await postToken(service, refreshForm(free.refresh_token)))
      // Attack: a stolen refresh token is bound to the key of the thief.
      assertRefreshRefused(await tokenRequest(service, key, refreshForm(free.refresh_token)))
      assert.equal((await boundCall(service, key, bound.access_token, IDENTITY)).status, 200)
      assert.equal(await isActive(bound.access_token), true)
      const refreshed = await tokenRequest(service, key, refreshForm(bound.refresh_token))
      assert.equal(refreshed.status, 200, refreshed.text)
      await require(false)
    },
  )

  await t.test('refuses legacy logins and sessions, but not their logout', async () => {
    const authenticate = () =>
      service.call('/edge/client/v1/authenticate?method=password', { json: person })
    const begun = await authenticate()
    assert.equal(begun.status, 200, begun.text)
    const headers = { 'zt-session': begun.json().data.token }
    await require(true)
    const call = await service.call(IDENTITY, { headers })
    assert.equal(call.headers['www-authenticate'], NO_SUCH_SESSION)
    const again = await authenticate()
    assert.equal(again.json().error.code, 'INVALID_AUTH', again.text)
    const path = '/edge/client/v1/current-api-session'
    assert.equal((await service.call(path, { method: 'DELETE', headers })).status, 200)
    await require(false)
  })

  await t.test('is shown by a preview with the sessions that it would end', async () => {
    await logInOffline(service, {}, person)
    const reply = await admin.call('POST', `/auth-policies/${policy}/what-if`, {
      secondary: { requireBoundToken: true },
    })
    const reasons = reply
      .json()
      .data.sessions.ending.rows.map(({ reason }: { reason: string }) => reason)
    assert.ok(reasons.length > 0, reply.text)
    assert.deepEqual([...new Set(reasons)], ['token-not-bound'])
  })
})
