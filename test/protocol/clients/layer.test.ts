/** The compatibility layer and its switch: D-314, D-317, D-318, D-319. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { logInAsGo, OPENZITI } from '../../support/login/openziti.ts'
import { administrateOpenZiti } from '../../support/login/openziti-administrator.ts'
import { administrate, assertRefused, MANAGEMENT } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const CLIENT = '/edge/client/v1'

const ADDRESSES = [
  ['GET', '/oidc/authorize'],
  ['POST', '/oidc/authorize'],
  ['GET', '/oidc/authorize/callback'],
  ['POST', '/oidc/oauth/token'],
  ['POST', '/enroll'],
  ['POST', '/enroll/ott'],
  ['POST', '/authenticate'],
  ['GET', `${CLIENT}/services`],
  ['GET', `${CLIENT}/controllers`],
  ['GET', `${CLIENT}/current-identity/edge-routers`],
  ['GET', `${CLIENT}/current-api-session/service-updates`],
  ['GET', `${MANAGEMENT}/services`],
  ['GET', `${MANAGEMENT}/edge-routers`],
  ['GET', `${MANAGEMENT}/config-types`],
  ['GET', `${MANAGEMENT}/identity-types`],
  ['GET', `${MANAGEMENT}/identity-types/Default`],
  ['GET', `${MANAGEMENT}/summary`],
] as const

const NONE = { edge: { brand: 'openziti', compatibility: 'none' } }

for (const [which, config] of [
  ['another brand', {}],
  ['the brand openziti and the layer switched off', NONE],
] as const) {
  test(`with ${which}, no address of the layer exists`, async (t) => {
    const service = await startService(t, { config })
    for (const [method, path] of ADDRESSES) {
      const reply = await service.call(path, { method })
      assert.equal(reply.status, 404, `${method} ${path}`)
      assert.equal(reply.json().error.code, 'NOT_FOUND')
    }
    const version = (await service.call('/version')).json().data
    // D-319: with the brand openziti, existing clients would take it as a promise of the layer's addresses.
    assert.deepEqual(version.capabilities, which === 'another brand' ? ['OIDC_AUTH'] : [])
    assert.equal('edge' in version.apiVersions, false)
    const exchange = await service.call('/oidc/token', {
      form: [
        ['grant_type', 'urn:ietf:params:oauth:grant-type:token-exchange'],
        ['client_id', which === 'another brand' ? 'service' : 'openziti'],
      ],
    })
    assert.equal(exchange.json().error, 'unsupported_grant_type')
    const native = await service.call('/oidc/authorization?client_id=native')
    assert.equal(native.json().error, 'invalid_client')
  })
}

test('without the layer, identities and enrollments are as the specification has them', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const id = await admin.create('/identities', {
    name: 'n',
    type: 'Default',
    isAdmin: false,
    enrollment: { ott: true },
  })
  const { type, enrollment } = await admin.get(`/identities/${id}`)
  assert.equal(type, 'Default')
  assert.equal('jwt' in enrollment.ott, false)
  assert.equal('jwt' in (await admin.get(`/enrollments/${enrollment.ott.id}`)), false)
  const store = await service.openStore()
  const [kept] = await store.enrollments.listOf(id as never)
  assert.equal(kept?.sealedJwt, undefined, 'and none is stored')
})

test('the layer is allowed with any brand', async (t) => {
  const service = await startService(t, { config: { edge: { compatibility: 'openziti' } } })
  assert.ok((await logInAsGo(service)).access_token)
})

test('every address of the layer exists', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  for (const [method, path] of ADDRESSES) {
    assert.notEqual((await service.call(path, { method })).status, 404, `${method} ${path}`)
  }
})

test('every response names the run of the service, which older clients cannot do without', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const ids = await Promise.all(
    ['/version', `${CLIENT}/version`, '/oidc/keys'].map(
      async (path) => (await service.call(path)).headers['ziti-instance-id'],
    ),
  )
  assert.equal(new Set(ids).size, 1)
  assert.match(String(ids[0]), /^[\w-]{10,}$/)
  const plain = await startService(t)
  assert.equal((await plain.call('/version')).headers['ziti-instance-id'], undefined)
})

test('lists of what there is none of are empty, and the summary counts', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  for (const path of ['/services', '/edge-routers', '/config-types', '/controllers']) {
    assert.deepEqual(await admin.get(path), [])
  }
  const types = await admin.get('/identity-types')
  assert.deepEqual(
    types.map(({ id }: { id: string }) => id),
    ['Default', 'Router'],
  )
  for (const { _links, ...type } of types) {
    const own = await admin.get(_links.self.href.slice(1))
    assert.deepEqual(own, { ...type, _links }, 'where its link leads')
  }
  for (const unknown of ['User', 'default', 'constructor']) {
    assertRefused(await admin.call('GET', `/identity-types/${unknown}`), 404, 'NOT_FOUND')
  }
  const { identities, services } = await admin.get('/summary')
  assert.deepEqual([identities, services], [1, 0])
})

test('lists are filtered and sorted by the identity under the name that clients use', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const { id } = await admin.createIdentity({ name: 'zoe', password: 'a password of my own' })
  const ask = (path: string, filter: string, more = '') =>
    admin.call('GET', `${path}?filter=${encodeURIComponent(filter)}${more}`)
  const own = await ask('/authenticators', `identity="${id}" and method="updb" sort by identity`)
  assert.equal(own.status, 200, own.text)
  const { data, meta } = own.json()
  assert.deepEqual(
    data.map(({ identityId }: { identityId: string }) => identityId),
    [id],
  )
  assert.equal(meta.filterableFields.includes('identity'), false)
  for (const path of ['/enrollments', '/api-sessions', `/identities/${id}/authenticators`]) {
    const reply = await ask(path, `identity="${id}"`, '&sort=identity')
    assert.equal(reply.status, 200, reply.text)
  }
  const unowned = await ask('/identities', `identity="${id}"`)
  assertRefused(unowned, 400, 'INVALID_FILTER', 'filter')
  const later = await ask('/authenticators', `identity="${id}" and nothing="x"`)
  assertRefused(later, 400, 'INVALID_FILTER', 'filter')
  const column = `identity="${id}" and `.length + 1
  assert.match(later.json().error.cause.reason, new RegExp(`at column ${column}$`))

  const plain = await administrate(await startService(t))
  const refused = await plain.call('GET', '/authenticators?filter=identity%3D%22x%22')
  assertRefused(refused, 400, 'INVALID_FILTER', 'filter')
})

test('models of management are accepted, or refused with the reason', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const user = {
    name: 'a user',
    type: 'User',
    isAdmin: false,
    appData: null,
    defaultHostingCost: 0,
    defaultHostingPrecedence: 'default',
    serviceHostingCosts: {},
    permissions: null,
  }
  const id = await admin.create('/identities', { ...user, enrollment: { ott: true } })
  const shown = await admin.get(`/identities/${id}`)
  assert.deepEqual(shown.type, {
    id: 'Default',
    name: 'Default',
    entity: 'identity-types',
    _links: { self: { href: './identity-types/Default' } },
  })
  assert.equal(shown.typeId, 'Default')
  assert.equal(decodeJwt(shown.enrollment.ott.jwt)['em'], 'ott')
  const [listed] = (await admin.get('/identities?filter=name="a user"')) as [typeof shown]
  assert.equal('jwt' in listed.enrollment.ott, false, 'in the detail alone')
  const cost = await admin.call('POST', '/identities', {
    ...user,
    name: 'x',
    defaultHostingCost: 5,
  })
  assertRefused(cost, 400, 'COULD_NOT_VALIDATE', 'defaultHostingCost')

  const updb = {
    allowed: true,
    lockoutDurationMinutes: 0,
    maxAttempts: 0,
    minPasswordLength: 8,
    requireMixedCase: false,
    requireNumberChar: false,
    requireSpecialChar: false,
  }
  const policy = (more: object) => ({
    name: 'p',
    primary: { updb: { ...updb, ...more } },
    secondary: { requireTotp: false, requireExtJwtSigner: null },
  })
  await admin.create('/auth-policies', policy({}))
  const mixed = await admin.call('POST', '/auth-policies', policy({ requireMixedCase: true }))
  assertRefused(mixed, 400, 'COULD_NOT_VALIDATE', 'primary.updb.requireMixedCase')
})

test('the JWT of an enrollment goes with its token, and is never stored readable', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const created = await admin.call('POST', '/identities', {
    name: 'n',
    type: 'Default',
    isAdmin: false,
    enrollment: { updb: 'n' },
  })
  const { id, enrollment } = created.json().data
  const jwtOf = async () => {
    const { jwt } = (await admin.get(`/identities/${id}`)).enrollment.updb
    assert.equal((await admin.get(`/enrollments/${enrollment.id}`)).jwt, jwt, 'in both details')
    return jwt
  }
  assert.equal(await jwtOf(), enrollment.jwt)
  for (const path of ['/enrollments', `/identities/${id}/enrollments`]) {
    const [listed] = await admin.get(path)
    assert.equal('jwt' in listed, false, 'in the detail alone')
  }
  const store = await service.openStore()
  const [row] = await store.enrollments.listOf(id)
  assert.equal(row?.sealedJwt?.includes(enrollment.jwt), false)
  const again = (await admin.call('POST', `/enrollments/${enrollment.id}/refresh`, {})).json().data
  assert.equal(await jwtOf(), again.jwt)
  const json = { username: 'n', password: 'a password of my own' }
  const used = await service.call(`${CLIENT}/enroll/updb?token=${again.token}`, { json })
  assert.equal(used.status, 200, used.text)
  const [spent] = await store.enrollments.listOf(id)
  assert.equal(spent?.sealedJwt, undefined)
  assert.equal('jwt' in (await admin.get(`/enrollments/${enrollment.id}`)), false)
})
