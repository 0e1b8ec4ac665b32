/**
 * The external JWT that a policy demands beside the primary credential, at the login: on all three primary logins and
 * on legacy authenticate. SPEC Authentication 5; D-14, D-51; R069.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { failureOf } from '../../support/audit.ts'
import { presenting, registerCa } from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  assertBlocked,
  assertChallenged,
  bearers,
  inOneField,
  type KnownIdp,
  registerIdp,
  secondaryChallenge,
  tokensOf,
} from '../../support/idp/jwt-login.ts'
import { MISSING } from '../../support/login/challenges.ts'
import { APIS, CLIENT_API, callsOf } from '../../support/login/legacy.ts'
import { bearer, beginLogin } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const ca = await openssl.makeCa({ subject: '/CN=Partner CA' })
const leaf = await openssl.makeLeaf(ca)

const PASSWORD = 'a password of somebody'
const WITHOUT_LIMIT = { edge: { limits: { failuresPerAddress: 0 } } }
const PUBLIC = {
  externalAuthUrl: 'https://second.example/authorize',
  clientId: 'an app there',
  scopes: ['openid', 'mail'],
}

/** Zoë has every primary credential, and a policy that demands a token of `second`. */
async function start(t: TestContext) {
  const service = await startService(t, { config: WITHOUT_LIMIT })
  const admin = await administrate(service)
  await registerCa(admin, openssl, ca)
  const register = (issuer: string, changes = {}) =>
    registerIdp(t, service, admin, { issuer, ...changes })
  const first = await register('https://first.example')
  const second = await register('https://second.example', PUBLIC)
  const policy = await admin.createPolicy({ secondary: { requireExtJwt: second.id } })
  const zoe = await admin.createIdentity({
    externalId: 'zoe',
    password: PASSWORD,
    certPem: leaf.pem,
    policy,
  })
  await admin.createIdentity({ externalId: 'bob' })
  return { service, admin, first, second, policy, zoe }
}
type World = Awaited<ReturnType<typeof start>>

const queryOf = ({ id, issuer }: KnownIdp) => ({
  typeId: 'EXT-JWT',
  provider: 'url',
  httpMethod: 'GET',
  httpUrl: PUBLIC.externalAuthUrl,
  id,
  issuer,
  clientId: PUBLIC.clientId,
  scopes: PUBLIC.scopes,
})

/** A primary login that is right in itself, with these tokens for the secondary factor. */
interface Way {
  readonly amr: readonly string[]
  submit(world: World, authRequestId: string, tokens: readonly string[]): Promise<Reply>
}

const credentials = ({ zoe: { username, password } }: World) => ({ username, password })

const OIDC_WAYS: Readonly<Record<string, Way>> = {
  password: {
    amr: ['pwd', 'ext-jwt', 'mfa'],
    submit: (world, authRequestId, tokens) =>
      world.service.call('/oidc/login/username', {
        json: { authRequestId, ...credentials(world) },
        ...bearers(...tokens),
      }),
  },
  certificate: {
    amr: ['swk', 'ext-jwt', 'mfa'],
    submit: ({ service }, authRequestId, tokens) =>
      presenting(service, leaf).call('/oidc/login/cert', {
        json: { authRequestId },
        ...bearers(...tokens),
      }),
  },
  'external JWT': {
    amr: ['ext-jwt', 'mfa'],
    submit: async ({ service, first }, authRequestId, tokens) =>
      service.call('/oidc/login/ext-jwt', {
        json: { authRequestId },
        ...bearers(await first.jwt('zoe'), ...tokens),
      }),
  },
}

type LegacyWay = (world: World, api: string, tokens: readonly string[]) => Promise<Reply>

const LEGACY_WAYS: Readonly<Record<string, LegacyWay>> = {
  password: (world, api, tokens) =>
    world.service.call(`${api}/authenticate?method=password`, {
      json: credentials(world),
      ...bearers(...tokens),
    }),
  certificate: ({ service }, api, tokens) =>
    presenting(service, leaf).call(`${api}/authenticate?method=cert`, {
      method: 'POST',
      ...bearers(...tokens),
    }),
  'external JWT': async ({ service, first }, api, tokens) =>
    service.call(`${api}/authenticate?method=ext-jwt`, {
      method: 'POST',
      ...bearers(await first.jwt('zoe'), ...tokens),
    }),
}

/** What comes along in place of a good token, and what it is called. */
const UNMET = {
  'no token': ['missing', async () => []],
  'only a token of another signer': ['missing', async ({ first }) => [await first.jwt('zoe')]],
  'a token of the service itself': ['missing', async ({ admin }) => [admin.token]],
  'an expired token': ['expired', async ({ second }) => [await second.expired('zoe')]],
  'a forged token': ['invalid', async ({ second }) => [await second.forged('zoe')]],
  'another audience': ['invalid', async ({ second }) => [await second.jwt('zoe', { aud: 'x' })]],
  // Attack: somebody who stole a password shows a good token of his own.
  'a good token of somebody else': ['invalid', async ({ second }) => [await second.jwt('bob')]],
  // R105: the other signer signs in the name of this one, under the same kid.
  'a token signed by another signer': [
    'invalid',
    async ({ first, second }) => [await first.jwt('zoe', { iss: second.issuer })],
  ],
  // R065: a credential that is present is never called missing.
  'what is no JWT': ['invalid', async () => ['x']],
} as const satisfies Readonly<
  Record<string, readonly ['missing' | 'expired' | 'invalid', (w: World) => Promise<string[]>]>
>

async function rowsIn(service: Service, table: string): Promise<number> {
  const [row] = await sql(service, `select count(*) as n from ${table}`)
  return Number(row?.['n'])
}

test('a login that also needs an external JWT', async (t) => {
  const world = await start(t)
  const { service, admin, first, second, zoe } = world
  // D-207: of one minute and reason the first ten refusals have an event each.
  const nextMinute = () => service.clock.advance(minutes(1))

  for (const [way, { amr, submit }] of Object.entries(OIDC_WAYS)) {
    for (const [what, [fault, tokens]] of Object.entries(UNMET)) {
      await t.test(`R069: ${way} with ${what} is blocked as ${fault}`, async () => {
        nextMinute()
        const before = await rowsIn(service, 'auth_requests')
        const { authRequestId } = await beginLogin(service)
        const reply = await submit(world, authRequestId, await tokens(world))
        assertBlocked(reply, secondaryChallenge(fault, second), [queryOf(second)])
        assert.equal(reply.headers['totp-required'], undefined)
        const event = await failureOf(service, reply)
        assert.equal(event.reason, `secondary-jwt-${fault}`)
        assert.equal(event.identityId, zoe.id)

        assert.equal(await rowsIn(service, 'auth_requests'), before, 'D-14: nothing is proven')
        const queries = await service.call(`/oidc/login/auth-queries?id=${authRequestId}`)
        assert.deepEqual(queries.json(), { authQueries: [] })
      })
    }

    await t.test(`D-14: ${way} is repeated with the token, and succeeds`, async () => {
      const begun = await beginLogin(service)
      const blocked = await submit(world, begun.authRequestId, [])
      assert.equal(blocked.status, 401)
      const reply = await submit(world, begun.authRequestId, [await second.jwt('zoe')])
      const { claims } = await tokensOf(service, begun, reply)
      assert.equal(claims.sub, zoe.id)
      assert.deepEqual(claims['amr'], amr)
    })
  }

  for (const api of APIS) {
    for (const [way, submit] of Object.entries(LEGACY_WAYS)) {
      await t.test(`R069: ${api}/authenticate by ${way} asks for the token`, async () => {
        nextMinute()
        const before = await rowsIn(service, 'api_sessions')
        for (const [what, [fault, tokens]] of Object.entries(UNMET)) {
          const reply = await submit(world, api, await tokens(world))
          assertBlocked(reply, secondaryChallenge(fault, second), [queryOf(second)])
          assert.equal((await failureOf(service, reply)).reason, `secondary-jwt-${fault}`, what)
        }
        assert.equal(await rowsIn(service, 'api_sessions'), before, 'no session was begun')

        const token = await second.jwt('zoe')
        const reply = await submit(world, api, [token])
        assert.equal(reply.status, 200, reply.text)
        const { data } = reply.json()
        assert.deepEqual(data.authQueries, [])
        assert.equal(data.amr.at(-1), 'mfa')
        const call = callsOf(service, data.token)
        assert.equal((await call(`${api}/current-identity`, bearer(token))).status, 200)
      })
    }
  }

  await t.test('D-14: two tokens travel as two fields or as one, in any order', async () => {
    const [one, two] = [await first.jwt('zoe'), await second.jwt('zoe')]
    for (const options of [
      bearers(one, two),
      bearers(two, one),
      inOneField(one, two),
      inOneField(two, one),
      { headers: { authorization: `bearer ${one} ,BEARER ${two}` } },
      bearers(one, two, admin.token),
    ]) {
      const begun = await beginLogin(service)
      const json = { authRequestId: begun.authRequestId }
      const reply = await service.call('/oidc/login/ext-jwt', { json, ...options })
      const { claims } = await tokensOf(service, begun, reply)
      assert.equal(claims.sub, zoe.id)
      assert.deepEqual(claims['amr'], ['ext-jwt', 'mfa'])
    }
  })

  await t.test('D-14: four tokens are refused, whatever is among them', async () => {
    const good = await second.jwt('zoe')
    const rest = [good, admin.token, await first.jwt('zoe')]
    for (const [way, { submit }] of Object.entries(OIDC_WAYS)) {
      const { authRequestId } = await beginLogin(service)
      const reply = await submit(world, authRequestId, [good, ...rest])
      assert.equal(reply.status, 401, way)
      assert.equal(reply.json().error.code, 'UNAUTHORIZED')
      assert.match(String(reply.headers['www-authenticate']), /error="invalid"/)
    }
    const reply = await LEGACY_WAYS['password']?.(world, CLIENT_API, [good, ...rest])
    assert.ok(reply)
    assertChallenged(reply, secondaryChallenge('invalid', second))
  })

  await t.test('a valid token does not make up for a wrong password', async () => {
    const { authRequestId } = await beginLogin(service)
    const json = { authRequestId, username: zoe.username, password: 'wrong horse battery' }
    for (const options of [{}, bearers(await second.jwt('zoe'))]) {
      const reply = await service.call('/oidc/login/username', { json, ...options })
      assertRefused(reply, 401, 'INVALID_AUTH')
      assert.equal(reply.headers['www-authenticate'], MISSING, 'and nobody learns of the demand')
      assert.equal((await failureOf(service, reply)).reason, 'wrong-password')
    }
  })

  await t.test('the token alone is not a login', async () => {
    const { authRequestId } = await beginLogin(service)
    const json = { authRequestId }
    const options = { json, ...bearers(await second.jwt('zoe')) }
    const byCertificate = await service.call('/oidc/login/cert', options)
    assertRefused(byCertificate, 401, 'INVALID_AUTH')
    const byPassword = await service.call('/oidc/login/username', options)
    assertRefused(byPassword, 400, 'COULD_NOT_VALIDATE', 'username')
  })

  await t.test('a browser gets a page, with the same challenge', async () => {
    const { authRequestId } = await beginLogin(service)
    const reply = await service.call('/oidc/login/username', {
      form: Object.entries({ authRequestId, ...credentials(world) }),
      headers: { accept: 'text/html' },
    })
    assert.equal(reply.status, 401)
    assert.match(reply.headers['content-type'] ?? '', /^text\/html/)
    assert.equal(reply.headers['www-authenticate'], secondaryChallenge('missing', second))
  })
})

test('D-14: one JWT serves as primary and as secondary, and is one factor all the same', async (t) => {
  const { service, admin, first, second } = await start(t)
  const policy = await admin.createPolicy({ secondary: { requireExtJwt: first.id } })
  const { id } = await admin.createIdentity({ externalId: 'carol', policy })
  const json = async () => ({ authRequestId: (await beginLogin(service)).authRequestId })
  const begun = await beginLogin(service)
  const reply = await service.call('/oidc/login/ext-jwt', {
    json: { authRequestId: begun.authRequestId },
    ...bearers(await first.jwt('carol')),
  })
  const { access_token, claims } = await tokensOf(service, begun, reply)
  assert.equal(claims.sub, id)
  assert.deepEqual(claims['amr'], ['ext-jwt'], 'no mfa')

  const other = await service.call('/oidc/login/ext-jwt', {
    json: await json(),
    ...bearers(await second.jwt('carol')),
  })
  assertChallenged(other, secondaryChallenge('missing', first))
  const legacy = await service.call(`${CLIENT_API}/authenticate`, {
    method: 'POST',
    ...bearers(await first.jwt('carol')),
  })
  assert.equal(legacy.status, 200, legacy.text)
  assert.deepEqual(legacy.json().data.amr, ['ext-jwt'])
  // R069: and on every call afterwards.
  const path = `${CLIENT_API}/current-identity`
  const alone = await service.call(path, bearer(access_token))
  assertChallenged(alone, secondaryChallenge('missing', first))
  const both = await service.call(path, bearers(access_token, await first.jwt('carol')))
  assert.equal(both.status, 200)
})

test('D-14: a disabled signer satisfies no demand', async (t) => {
  const { service, admin } = await start(t)
  const off = await registerIdp(t, service, admin, {
    issuer: 'https://off.example',
    enabled: false,
  })
  const policy = await admin.createPolicy({ secondary: { requireExtJwt: off.id } })
  const dora = await admin.createIdentity({ externalId: 'dora', password: PASSWORD, policy })
  for (const [tokens, fault] of [
    [[], 'missing'],
    [[await off.jwt('dora')], 'invalid'],
  ] as const) {
    const { authRequestId } = await beginLogin(service)
    const { username, password } = dora
    const json = { authRequestId, username, password }
    const reply = await service.call('/oidc/login/username', { json, ...bearers(...tokens) })
    assertChallenged(reply, secondaryChallenge(fault, off))
  }
})
