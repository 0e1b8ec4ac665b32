/**
 * Walks every route of a listener that has everything bound: each says who may call it, and does what it says.
 * A new route gets a line in the tables below first. D-37, D-51, R071.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Route } from '../../src/http/route.ts'
import { parseChallenges } from '../../src/protocol/challenge.ts'
import { addressOf, startWithEverything } from '../support/everything.ts'
import type { CallOptions } from '../support/http-client.ts'
import { NO_SUCH_SESSION } from '../support/login/challenges.ts'
import { beginLogin } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import type { Service } from '../support/service.ts'

/** Every address that the service has: which methods, and who may call them. */
type Addresses = Readonly<Record<string, string>>

const OF_BOTH_APIS: Addresses = {
  '/.well-known/est/cacerts': 'GET public',
  '/authenticate': 'POST login',
  '/authenticate/mfa': 'POST partial',
  '/authenticate/passkey': 'POST partial',
  '/authenticate/passkey/options': 'POST partial',
  '/current-api-session': 'GET partial, DELETE logout',
  '/current-identity': 'GET session',
  '/current-identity/authenticators/:id/extend': 'POST session',
  '/current-identity/authenticators/:id/extend-verify': 'POST session',
  '/current-identity/authenticators': 'GET session',
  '/current-identity/authenticators/:id': 'GET session, PUT session, PATCH session',
  '/current-identity/mfa': 'GET partial, POST partial, DELETE partial',
  '/current-identity/mfa/qr-code': 'GET partial',
  '/current-identity/mfa/recovery-codes': 'GET session, POST session',
  '/current-identity/mfa/verify': 'POST partial',
  '/current-identity/passkeys': 'GET session, POST partial',
  '/current-identity/passkeys/:id': 'PATCH session, DELETE session',
  '/current-identity/passkeys/options': 'POST partial',
  '/current-identity/passkeys/verify': 'POST partial',
  '/docs': 'GET public',
  '/openapi.json': 'GET public',
  '/version': 'GET public',
}

const OF_THE_CLIENT_API: Addresses = {
  '/enroll': 'POST login',
  '/enroll/ca': 'POST login',
  '/enroll/ott': 'POST login',
  '/enroll/ottca': 'POST login',
  '/enroll/updb': 'POST login',
  '/current-api-session/certificates': 'GET session, POST session',
  '/current-api-session/certificates/:id': 'GET session, DELETE session',
  '/external-jwt-signers': 'GET public',
  '/endings/:id': 'GET public',
  '/gateways': 'GET session',
  '/router-checks': 'POST router',
  '/router-confirmations': 'POST router',
  '/router-feed': 'GET router',
}

const OF_THE_MANAGEMENT_API: Addresses = {
  '/api-sessions': 'GET admin',
  '/api-sessions/:id': 'GET admin, DELETE admin',
  '/api-sessions/:id/ledger': 'GET admin',
  '/api-sessions/end-all': 'POST admin',
  '/endings/:id': 'GET admin',
  '/routers': 'GET admin',
  '/auth-policies': 'GET admin, POST admin',
  '/auth-policies/:id': 'GET admin, PUT admin, PATCH admin, DELETE admin',
  '/auth-policies/:id/what-if': 'POST admin',
  '/authenticators': 'GET admin, POST admin',
  '/authenticators/:id': 'GET admin, PUT admin, PATCH admin, DELETE admin',
  '/authenticators/:id/re-enroll': 'POST admin',
  '/authenticators/:id/unlock': 'POST admin',
  '/cas': 'GET admin, POST admin',
  '/cas/:id': 'GET admin, PUT admin, PATCH admin, DELETE admin',
  '/cas/:id/jwt': 'GET admin',
  '/cas/:id/verify': 'POST admin',
  '/enrollments': 'GET admin, POST admin',
  '/enrollments/:id': 'GET admin, DELETE admin',
  '/enrollments/:id/refresh': 'POST admin',
  '/events': 'GET admin',
  '/events/:id': 'GET admin',
  '/expiry': 'GET admin',
  '/external-jwt-signers': 'GET admin, POST admin',
  '/external-jwt-signers/:id': 'GET admin, PUT admin, PATCH admin, DELETE admin',
  '/external-jwt-signers/:id/check': 'POST admin',
  '/external-jwt-signers/discover': 'POST admin',
  '/identities': 'GET admin, POST admin',
  '/identities/:id': 'GET admin, PUT admin, PATCH admin, DELETE admin',
  '/identities/:id/api-sessions': 'GET admin, DELETE admin',
  '/identities/:id/authenticators': 'GET admin',
  '/identities/:id/disable': 'POST admin',
  '/identities/:id/enable': 'POST admin',
  '/identities/:id/enrollments': 'GET admin',
  '/identities/:id/mfa': 'DELETE admin',
  '/identities/:id/passkeys': 'GET admin',
  '/identities/:id/passkeys/:passkeyId': 'DELETE admin',
  '/overview': 'GET admin',
  '/signing-keys': 'GET admin, POST admin',
  '/signing-keys/:id': 'GET admin',
}

const OF_THE_PROVIDER: Addresses = {
  '/.well-known/openid-configuration': 'GET public',
  '/authorization': 'GET public, POST public',
  '/device_authorization': 'POST login',
  '/end_session': 'GET public, POST public',
  '/introspect': 'POST session',
  '/keys': 'GET public',
  '/login/auth-queries': 'GET login',
  '/login/cert': 'GET login, POST login',
  '/login/continue': 'GET login, POST login',
  '/login/ext-jwt': 'GET login, POST login',
  '/login/ext-jwt/callback': 'GET login',
  '/login/ext-jwt/start': 'GET login',
  '/login/password': 'GET login, POST login',
  '/login/restart': 'GET login',
  '/login/passkey': 'GET login, POST login',
  '/login/passkey/enroll': 'GET login, POST login',
  '/login/passkey/enroll/verify': 'POST login',
  '/login/passkey/options': 'POST login',
  '/login/totp': 'GET login, POST login',
  '/login/totp/enroll': 'GET login, POST login, DELETE login',
  '/login/totp/enroll/verify': 'POST login',
  '/login/username': 'GET login, POST login',
  '/revoke': 'POST login',
  '/token': 'POST login',
  '/userinfo': 'GET session, POST session',
}

/** D-161: whoever has no cookie is led to the login, and nobody is challenged. */
const OF_THE_ACCOUNT: Addresses = {
  '': 'GET public',
  '/callback': 'GET public',
  '/certificates': 'GET public',
  '/confirm': 'GET public',
  '/passkeys': 'GET public',
  '/passkeys/remove': 'POST public',
  '/passkeys/rename': 'POST public',
  '/passkeys/start': 'POST public',
  '/passkeys/verify': 'POST public',
  '/password': 'GET public, POST public',
  '/sessions': 'GET public',
  '/sessions/end': 'POST public',
  '/sessions/end-others': 'POST public',
  '/sign-out': 'POST public',
  '/signed-out': 'GET public',
  '/totp': 'GET public',
  '/totp/recovery-codes': 'POST public',
  '/totp/remove': 'POST public',
  '/totp/start': 'POST public',
  '/totp/verify': 'POST public',
}

/** D-440: like the account. */
const OF_DEVICES: Addresses = {
  '': 'GET public',
  '/approve': 'POST public',
  '/callback': 'GET public',
  '/confirm': 'GET public',
  '/deny': 'POST public',
  '/sign-in': 'GET public',
  '/sign-out': 'POST public',
  '/signed-out': 'GET public',
}

/** D-376: the token in the form is what lets a person in. */
const OF_INVITATIONS: Addresses = {
  '': 'GET public, POST public',
  '/certificate': 'POST public',
  '/invitation.jwt': 'POST public',
  '/mfa': 'POST public',
  '/password': 'POST public',
}

/** D-355: like the account. Files that are the same for everyone need no session. */
const OF_THE_CONSOLE: Addresses = {
  '': 'GET public',
  '/assets/:name': 'GET public',
  '/audit': 'GET public',
  '/audit/events/:id': 'GET public',
  '/audit/export.csv': 'GET public',
  '/audit/export.jsonl': 'GET public',
  '/callback': 'GET public',
  '/cas': 'GET public, POST public',
  '/cas/:id': 'GET public, POST public',
  '/cas/:id/delete': 'POST public',
  '/cas/:id/verify': 'POST public',
  '/cas/new': 'GET public',
  '/configuration': 'GET public',
  '/confirm': 'GET public',
  '/expiry': 'GET public',
  '/explain': 'GET public',
  '/identities': 'GET public',
  '/identities/:id': 'GET public',
  '/identities/:id/delete': 'POST public',
  '/identities/:id/disable': 'POST public',
  '/identities/:id/edit': 'GET public, POST public',
  '/identities/:id/enable': 'POST public',
  '/identities/:id/invite': 'POST public',
  '/identities/:id/re-invite': 'POST public',
  '/identities/:id/renew-invitation': 'POST public',
  '/identities/:id/reset-second-factor': 'POST public',
  '/identities/:id/sign-out': 'POST public',
  '/identities/:id/unlock': 'POST public',
  '/invite': 'GET public, POST public',
  '/policies': 'GET public, POST public',
  '/policies/:id': 'GET public, POST public',
  '/policies/:id/delete': 'POST public',
  '/policies/:id/preview': 'POST public',
  '/policies/new': 'GET public',
  '/routers': 'GET public',
  '/search': 'GET public',
  '/sessions': 'GET public',
  '/sessions/:id': 'GET public',
  '/sessions/end': 'POST public',
  '/sign-out': 'POST public',
  '/signed-out': 'GET public',
  '/signers': 'GET public, POST public',
  '/signers/:id': 'GET public, POST public',
  '/signers/by-hand': 'POST public',
  '/signers/:id/check': 'POST public',
  '/signers/:id/delete': 'POST public',
  '/signers/:id/disable': 'POST public',
  '/signers/:id/enable': 'POST public',
  '/signers/new': 'GET public',
  '/stream': 'GET public',
}

const ELSEWHERE: Addresses = {
  '/': 'GET public',
  '/docs': 'GET public',
  '/docs/': 'GET public',
  '/docs/:folder/:name': 'GET public',
  '/docs/:name': 'GET public',
  '/.well-known/est/cacerts': 'GET public',
  '/.well-known/oauth-authorization-server/oidc': 'GET public',
  '/.well-known/openid-configuration': 'GET public',
  '/.well-known/openid-configuration/oidc': 'GET public',
  '/health-checks': 'GET public',
  '/health-checks/live': 'GET public',
  '/metrics': 'GET public',
  '/version': 'GET public',
}

const EXPECTED: readonly string[] = [
  ...under('/edge/client/v1', { ...OF_BOTH_APIS, ...OF_THE_CLIENT_API }),
  ...under('/edge/management/v1', { ...OF_BOTH_APIS, ...OF_THE_MANAGEMENT_API }),
  ...under('/oidc', OF_THE_PROVIDER),
  ...under('/account', OF_THE_ACCOUNT),
  ...under('/device', OF_DEVICES),
  ...under('/invite', OF_INVITATIONS),
  ...under('/console', OF_THE_CONSOLE),
  ...under('', ELSEWHERE),
]

function under(prefix: string, addresses: Addresses): readonly string[] {
  return Object.entries(addresses).flatMap(([path, calls]) =>
    calls.split(', ').map((call) => `${prefix}${path} ${call}`),
  )
}

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

const call = (service: Service, route: Route, options: CallOptions = {}) =>
  service.call(addressOf(route), { method: route.method, ...options })

test('every route declares who may call it, and does what it declares', async (t) => {
  const { service, routes } = await startWithEverything(t)
  const withAccess = (access: Route['access']) => routes.filter((route) => route.access === access)

  await t.test('the routes are those that are expected', () => {
    const found = routes.map(({ method, url, access }) => `${url} ${method} ${access}`)
    assert.deepEqual(found.toSorted(), EXPECTED.toSorted())
  })

  for (const access of ['session', 'partial', 'logout', 'admin', 'router'] as const) {
    await t.test(
      `a route of access ${access} answers 401 with a challenge to whoever has no credential`,
      async () => {
        assert.ok(withAccess(access).length > 0)
        for (const route of withAccess(access)) {
          for (const [attached, headers] of Object.entries(ATTACHED)) {
            const reply = await call(service, route, { headers })
            const where = `${route.method} ${route.url} with ${attached}`
            assert.equal(reply.status, 401, where)
            const { error } = reply.json()
            // D-42: a router is known by its certificate alone, so that its lack is a failed login.
            const code = access === 'router' ? 'INVALID_AUTH' : 'UNAUTHORIZED'
            if (route.face.json === 'api') assert.equal(error.code, code, where)
            else assert.equal(typeof error, 'string', where)
            const challenges = parseChallenges(reply.headers['www-authenticate'] ?? '')
            assert.ok(challenges !== undefined && challenges.length > 0, where)
            const fields = reply.rawHeaders.filter((name) => /^www-authenticate$/i.test(name))
            assert.equal(fields.length, 1, 'D-37: one field')
          }
        }
      },
    )
  }

  await t.test(
    'D-51: a partial session may complete its login, log out, and nothing else',
    async () => {
      const admin = await administrate(service)
      const policy = await admin.createPolicy({ secondary: { requireTotp: true } })
      const { username, password } = await admin.createIdentity({
        password: 'half of a login',
        policy,
        isAdmin: true,
      })
      const begin = await service.call('/edge/client/v1/authenticate', {
        json: { username, password },
      })
      assert.equal(begin.status, 200, begin.text)
      const headers = { 'zt-session': String(begin.headers['zt-session']) }

      for (const route of [...withAccess('session'), ...withAccess('admin')]) {
        const reply = await call(service, route, { headers })
        const where = `${route.method} ${route.url}`
        assert.equal(reply.status, 401, where)
        assert.equal(reply.headers['www-authenticate'], NO_SUCH_SESSION, where)
        assert.equal(reply.headers['totp-required'], 'true', where)
        if (route.face.json !== 'api') continue
        const { error, authQueries } = reply.json()
        assert.equal(error.code, 'UNAUTHORIZED', where)
        assert.deepEqual(
          authQueries.map(({ typeId }: { typeId: string }) => typeId),
          ['MFA'],
          where,
        )
      }
      for (const route of withAccess('partial')) {
        const { status } = await call(service, route, { headers })
        assert.ok(status !== 401 && status !== 403, `${route.method} ${route.url}: ${status}`)
      }
      const [logout] = withAccess('logout')
      assert.ok(logout !== undefined)
      assert.equal((await call(service, logout, { headers })).status, 200)
      const after = await service.call('/edge/client/v1/current-api-session', { headers })
      assert.equal(after.headers['www-authenticate'], NO_SUCH_SESSION)
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
    const wrong = { username: 'admin', password: 'wrong' }
    const secret = ['client_secret', 'secret'] as const
    const refused: Readonly<Record<string, CallOptions>> = {
      '/edge/client/v1/authenticate': { json: wrong },
      '/edge/management/v1/authenticate': { json: wrong },
      '/oidc/login/username': { json: { authRequestId, ...wrong } },
      '/oidc/login/password': { json: { authRequestId, ...wrong } },
      '/oidc/login/cert': { json: { authRequestId } },
      '/oidc/login/ext-jwt': { json: { authRequestId } },
      '/oidc/login/passkey': { json: { authRequestId, credential: {} } },
      '/oidc/token': {
        form: [['grant_type', 'authorization_code'], ['client_id', 'service'], secret],
      },
      '/oidc/device_authorization': { form: [['client_id', 'service'], secret] },
      '/oidc/revoke': { form: [['token', 'x'], ['client_id', 'service'], secret] },
    }
    // These answer 401 only when a policy has begun to demand an external JWT in the middle of a login, and to a browser
    // that comes back from an IdP (test/protocol/ext-jwt/browser-callback.test.ts).
    const inTheMiddle = [
      '/oidc/login/totp',
      '/oidc/login/totp/enroll/verify',
      '/oidc/login/passkey/enroll/verify',
      '/oidc/login/ext-jwt/callback',
    ]
    for (const route of withAccess('login')) {
      const where = `${route.method} ${route.url}`
      const isLegacy = route.url.endsWith('/authenticate')
      const malformed = await service.call(isLegacy ? `${route.url}?method=x` : route.url, {
        method: route.method,
        ...(route.reads.length === 0 ? {} : { form: [] }),
      })
      assert.equal(malformed.status, 400, where)
      assert.equal(malformed.headers['www-authenticate'], undefined, where)
      if (!route.replies.includes(401) || inTheMiddle.includes(route.url)) continue
      const options = refused[route.url]
      assert.ok(options !== undefined, `${where} has a call that is answered 401`)
      const reply = await call(service, route, options)
      assert.equal(reply.status, 401, where)
      const challenges = parseChallenges(reply.headers['www-authenticate'] ?? '')
      assert.ok(challenges !== undefined && challenges.length > 0, where)
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
        const reply = await service.call(addressOf({ url }), { method, agent })
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
  assert.deepEqual(found, ['src/http/router.ts'])
})

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
