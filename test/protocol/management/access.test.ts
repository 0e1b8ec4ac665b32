/**
 * Who may use the management API: administrators, by either kind of session, and nobody else. API 3.3, D-38.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/http/route.ts'
import { MISSING } from '../../support/login/challenges.ts'
import { bearer } from '../../support/login/login.ts'
import { administrate, assertRefused, logInAs, MANAGEMENT } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

/** Every route that only an administrator may call, with an id in its address. */
function adminRoutes(service: Service): readonly Pick<Route, 'method' | 'url'>[] {
  const routes = service.instance.listeners.flatMap((listener) => listener.routes)
  return routes
    .filter(({ access }) => access === 'admin')
    .map(({ method, url }) => ({ method, url: url.replace(':id', 'nothing') }))
}

test('only an administrator may use the management API', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const routes = adminRoutes(service)

  await t.test('API 3.3: the addresses are those of the management API alone', async () => {
    const paths = new Set(routes.map(({ url }) => url.split('/')[4]))
    assert.deepEqual([...paths].toSorted(), [
      'api-sessions',
      'auth-policies',
      'authenticators',
      'cas',
      'endings',
      'enrollments',
      'events',
      'expiry',
      'external-jwt-signers',
      'identities',
      'overview',
      'routers',
      'signing-keys',
    ])
    for (const { url } of routes) {
      assert.ok(url.startsWith(`${MANAGEMENT}/`), url)
    }
    for (const path of ['identities', 'authenticators', 'auth-policies', 'cas']) {
      assertRefused(
        await service.call(`/edge/client/v1/${path}`, bearer(admin.token)),
        404,
        'NOT_FOUND',
      )
    }
  })

  await t.test('without a credential every one of them is 401 with the challenges', async () => {
    for (const { method, url } of routes) {
      const reply = await service.call(url, { method })
      assertRefused(reply, 401, 'UNAUTHORIZED')
      assert.equal(reply.headers['www-authenticate'], MISSING, `${method} ${url}`)
    }
  })

  await t.test('D-38: for other identities each of them is 403, without a challenge', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    const { access_token } = await logInAs(service, ada)
    for (const { method, url } of routes) {
      const reply = await service.call(url, { method, ...bearer(access_token) })
      assertRefused(reply, 403, 'FORBIDDEN')
      assert.equal(reply.headers['www-authenticate'], undefined)
      assert.ok(
        reply.headers['expires-at'],
        'D-39: an authenticated answer, also when it is an error',
      )
    }
  })

  await t.test('D-38: a caller without permission learns nothing about what exists', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    const { access_token } = await logInAs(service, ada)
    const itself = `${MANAGEMENT}/identities/${ada.id}`
    assertRefused(await service.call(itself, bearer(access_token)), 403, 'FORBIDDEN')
    const own = { json: { name: 'x', isAdmin: true }, ...bearer(access_token) }
    assertRefused(await service.call(`${MANAGEMENT}/identities`, own), 403, 'FORBIDDEN')
  })

  await t.test('an administrator may by a legacy session too', async () => {
    const login = await service.call(`${MANAGEMENT}/authenticate?method=password`, { json: ADMIN })
    assert.equal(login.status, 200, login.text)
    const headers = { 'zt-session': login.json().data.token }
    const reply = await service.call(`${MANAGEMENT}/identities`, { headers })
    assert.equal(reply.status, 200, reply.text)
  })

  await t.test('an id that nothing has is 404 everywhere', async () => {
    for (const { method, url } of routes.filter((route) => route.url.includes('/nothing'))) {
      const path = url.slice(MANAGEMENT.length)
      assertRefused(await admin.call(method, path), 404, 'NOT_FOUND')
    }
  })

  await t.test('an id that no database could hold is 404 too', async () => {
    for (const id of [
      '%00',
      'a%00b',
      '%ED%A0%80',
      'x'.repeat(90),
      '%F0%9F%94%91',
      "'%20or%201=1",
    ]) {
      for (const kind of ['identities', 'authenticators', 'auth-policies', 'cas']) {
        const reply = await admin.call('GET', `/${kind}/${id}`)
        assert.ok([400, 404].includes(reply.status), `${reply.status} for ${kind}/${id}`)
        assert.ok(['NOT_FOUND', 'BAD_REQUEST'].includes(reply.json().error.code), reply.text)
        assert.notEqual((await admin.call('DELETE', `/${kind}/${id}`)).status, 500, id)
      }
    }
  })
})
