/**
 * Walks every route of a listener that has everything bound: each says who may call it, and does what it says.
 * A new route gets a line in `EXPECTED` first. D-37, R071.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BINDINGS } from '../../src/config/config.ts'
import type { Route } from '../../src/http/route.ts'
import { parseChallenges } from '../../src/protocol/challenge.ts'
import type { CallOptions } from '../support/http-client.ts'
import { beginLogin } from '../support/login.ts'
import { type Service, startService } from '../support/service.ts'

/** Every address that the service has, and who may call it. */
const EXPECTED: readonly (readonly [method: string, path: string, access: string])[] = [
  ['GET', '/.well-known/oauth-authorization-server/oidc', 'public'],
  ['GET', '/.well-known/openid-configuration', 'public'],
  ['GET', '/.well-known/openid-configuration/oidc', 'public'],
  ['GET', '/edge/client/v1/current-api-session', 'session'],
  ['GET', '/edge/client/v1/current-identity', 'session'],
  ['GET', '/edge/client/v1/version', 'public'],
  ['GET', '/edge/management/v1/current-api-session', 'session'],
  ['GET', '/edge/management/v1/current-identity', 'session'],
  ['GET', '/edge/management/v1/version', 'public'],
  ['GET', '/oidc/.well-known/openid-configuration', 'public'],
  ['GET', '/oidc/authorization', 'public'],
  ['GET', '/oidc/keys', 'public'],
  ['GET', '/oidc/login/password', 'login'],
  ['GET', '/oidc/login/username', 'login'],
  ['GET', '/version', 'public'],
  ['POST', '/oidc/authorization', 'public'],
  ['POST', '/oidc/login/password', 'login'],
  ['POST', '/oidc/login/username', 'login'],
  ['POST', '/oidc/token', 'login'],
]

/** Credentials of every kind, none of them good. */
const ATTACHED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  nothing: {},
  'a bearer token': { authorization: 'Bearer nonsense' },
  'an empty bearer token': { authorization: 'Bearer' },
  'a forged JWT': { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4In0.' },
  'a legacy token': { 'zt-session': 'nonsense' },
  'a name and password': { authorization: 'Basic YWRtaW46YWRtaW4=' },
  'everything and a cookie': {
    authorization: 'Bearer nonsense',
    'zt-session': 'nonsense',
    cookie: 'session=nonsense',
  },
}

async function startWithEverything(t: TestContext) {
  const service = await startService(t, {
    config: {
      web: [
        {
          name: 'everything',
          bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
          apis: BINDINGS.map((binding) => ({ binding })),
        },
      ],
    },
  })
  const [listener] = service.instance.listeners
  assert.ok(listener !== undefined)
  return { service, routes: listener.routes }
}

const call = (service: Service, { method, url }: Route, options: CallOptions = {}) =>
  service.call(url, { method, ...options })

test('every route declares who may call it, and does what it declares', async (t) => {
  const { service, routes } = await startWithEverything(t)
  const withAccess = (access: Route['access']) => routes.filter((route) => route.access === access)

  await t.test('the routes are those that are expected', () => {
    const found = routes.map(({ method, url, access }) => [method, url, access] as const)
    assert.deepEqual(
      found.toSorted(([a, b], [c, d]) => (`${a} ${b}` < `${c} ${d}` ? -1 : 1)),
      EXPECTED,
    )
  })

  await t.test(
    'a session route answers 401 with a challenge to whoever has no credential',
    async () => {
      assert.ok(withAccess('session').length > 0)
      for (const route of withAccess('session')) {
        for (const [attached, headers] of Object.entries(ATTACHED)) {
          const reply = await call(service, route, { headers })
          const where = `${route.method} ${route.url} with ${attached}`
          assert.equal(reply.status, 401, where)
          assert.equal(reply.json().error.code, 'UNAUTHORIZED', where)
          const challenges = parseChallenges(reply.headers['www-authenticate'] ?? '')
          assert.ok(challenges !== undefined && challenges.length > 0, where)
          const fields = reply.rawHeaders.filter((name) => /^www-authenticate$/i.test(name))
          assert.equal(fields.length, 1, 'D-37: one field')
        }
      }
    },
  )

  await t.test('R071: a public route never sends a challenge, whatever is attached', async () => {
    assert.ok(withAccess('public').length > 0)
    for (const route of withAccess('public')) {
      for (const [attached, headers] of Object.entries(ATTACHED)) {
        const bodies: readonly CallOptions[] =
          route.method === 'GET'
            ? [{}]
            : [{ form: [] }, { json: {} }, { body: '%zz', headers: FORM }, { body: 'x' }]
        for (const options of bodies) {
          const reply = await call(service, route, {
            ...options,
            headers: { ...headers, ...options.headers },
          })
          const where = `${route.method} ${route.url} with ${attached}`
          assert.notEqual(reply.status, 401, where)
          assert.notEqual(reply.status, 500, where)
          assert.equal(reply.headers['www-authenticate'], undefined, where)
        }
      }
    }
  })

  await t.test('a login route sends a challenge with every 401, and only then', async () => {
    const { authRequestId } = await beginLogin(service)
    const refused: Readonly<Record<string, CallOptions>> = {
      '/oidc/login/username': { json: { authRequestId, username: 'admin', password: 'wrong' } },
      '/oidc/login/password': { json: { authRequestId, username: 'admin', password: 'wrong' } },
      '/oidc/token': {
        form: [
          ['grant_type', 'authorization_code'],
          ['client_id', 'service'],
          ['client_secret', 'secret'],
        ],
      },
    }
    for (const route of withAccess('login')) {
      const malformed = await call(service, route, route.method === 'GET' ? {} : { form: [] })
      assert.equal(malformed.status, 400, route.url)
      assert.equal(malformed.headers['www-authenticate'], undefined, route.url)
      if (route.method === 'GET') continue
      const options = refused[route.url]
      assert.ok(options !== undefined, `${route.url} has a call that is answered 401`)
      const reply = await call(service, route, options)
      assert.equal(reply.status, 401, route.url)
      const challenges = parseChallenges(reply.headers['www-authenticate'] ?? '')
      assert.ok(challenges !== undefined && challenges.length > 0, route.url)
    }
  })

  await t.test('every other method of every address is 405 with Allow (D-45)', async (t) => {
    const agent = new Agent({ keepAlive: true, ca: service.ca })
    t.after(() => agent.destroy())
    for (const [url, known] of Map.groupBy(routes, (route) => route.url)) {
      const allowed = known.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      const preflight = known[0]?.cors === 'none' ? [] : ['OPTIONS']
      const others = METHODS.filter(
        (method) => ![...allowed, ...preflight, 'CONNECT'].includes(method),
      )
      for (const method of others) {
        const reply = await service.call(url, { method, agent })
        assert.equal(reply.status, 405, `${method} ${url}`)
        assert.equal(reply.headers.allow, allowed.join(', '))
        assert.equal(reply.headers['www-authenticate'], undefined)
      }
    }
  })
})

test('an address that is not bound is 404 and never a challenge (R071)', async (t) => {
  const { service } = await startWithEverything(t)
  for (const headers of Object.values(ATTACHED)) {
    for (const path of [
      '/edge/client/v1/nothing',
      '/edge/management/v2/version',
      '/oidc/nothing',
    ]) {
      const reply = await service.call(path, { headers })
      assert.equal(reply.status, 404)
      assert.equal(reply.json().error.code, 'NOT_FOUND')
      assert.equal(reply.headers['www-authenticate'], undefined)
    }
  }
})

test('routes are added in one place, so that the table above is complete', () => {
  const adding = /\bapp\s*\.\s*(?:route|all|get|head|post|put|patch|delete|options|register)\(/
  const root = join(import.meta.dirname, '../..')
  const files = globSync('src/**/*.ts', { cwd: root, exclude: (name) => name.endsWith('.test.ts') })
  assert.ok(files.length > 50)
  const found = files.filter((file) => adding.test(readFileSync(join(root, file), 'utf8')))
  assert.deepEqual(found, ['src/http/route.ts'])
})

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
