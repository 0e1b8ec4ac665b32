/**
 * The external JWT that a policy demands, on every API call after the login: for OIDC and legacy sessions, on both
 * APIs. SPEC Authentication 5, 401 challenges; D-14, D-36, D-52; R069.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { connectRaw } from '../../support/edge/raw-connection.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import {
  assertBlocked,
  assertChallenged,
  bearers,
  type Fault,
  inOneField,
  registerIdp,
  secondaryChallenge,
  tokensOf,
} from '../../support/idp/jwt-login.ts'
import {
  CODE_DEMANDED,
  EXPIRED,
  INVALID,
  MISSING,
  NO_SUCH_SESSION,
} from '../../support/login/challenges.ts'
import { APIS, CLIENT_API, MANAGEMENT_API } from '../../support/login/legacy.ts'
import { bearer, beginLogin } from '../../support/login/login.ts'
import { administrate, assertRefused, type CreatedIdentity } from '../../support/management.ts'
import { demand } from '../../support/policies.ts'
import { type Service, startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'
const PATHS = APIS.flatMap((api) => [`${api}/current-identity`, `${api}/current-api-session`])
const IDENTITY = `${CLIENT_API}/current-identity`

/** Zoë's policy demands a token of `second`. */
async function start(t: TestContext) {
  const service = await startService(t)
  const admin = await administrate(service)
  const first = await registerIdp(t, service, admin, { issuer: 'https://first.example' })
  const second = await registerIdp(t, service, admin, { issuer: 'https://second.example' })
  const policy = await admin.createPolicy({ secondary: { requireExtJwt: second.id } })
  const zoe = await admin.createIdentity({ externalId: 'zoe', password: PASSWORD, policy })
  await admin.createIdentity({ externalId: 'bob' })
  return { service, admin, first, second, policy, zoe }
}
type World = Awaited<ReturnType<typeof start>>

/** A session: what a call of it carries besides the external JWTs. */
type Session = (...tokens: readonly string[]) => CallOptions

async function oidcSession(
  service: Service,
  { username, password }: CreatedIdentity,
  ...tokens: readonly string[]
): Promise<Session> {
  const begun = await beginLogin(service)
  const json = { authRequestId: begun.authRequestId, username, password }
  const reply = await service.call('/oidc/login/username', { json, ...bearers(...tokens) })
  const { access_token } = await tokensOf(service, begun, reply)
  return (...others) => bearers(access_token, ...others)
}

async function legacySession(
  service: Service,
  { username, password }: CreatedIdentity,
  ...tokens: readonly string[]
): Promise<Session> {
  const json = { username, password }
  const options = { json, ...bearers(...tokens) }
  const reply = await service.call(`${CLIENT_API}/authenticate`, options)
  assert.equal(reply.status, 200, reply.text)
  const headers = { 'zt-session': reply.json().data.token }
  return (...others) =>
    others.length === 0 ? { headers } : { headers: { ...headers, ...bearers(...others).headers } }
}

const KINDS = { OIDC: oidcSession, legacy: legacySession } as const

const UNMET = {
  'no token': ['missing', async () => []],
  'only a token of another signer': ['missing', async ({ first }) => [await first.jwt('zoe')]],
  'an expired token': ['expired', async ({ second }) => [await second.expired('zoe')]],
  'a forged token': ['invalid', async ({ second }) => [await second.forged('zoe')]],
  'another audience': ['invalid', async ({ second }) => [await second.jwt('zoe', { aud: 'x' })]],
  'a good token of somebody else': ['invalid', async ({ second }) => [await second.jwt('bob')]],
  'a token signed by another signer': [
    'invalid',
    async ({ first, second }) => [await first.jwt('zoe', { iss: second.issuer })],
  ],
  // R065: a credential that is present is never called missing.
  'what is no JWT': ['invalid', async () => ['x']],
} as const satisfies Readonly<
  Record<string, readonly ['missing' | 'expired' | 'invalid', (w: World) => Promise<string[]>]>
>

/** Blocked for want of the token alone. */
function assertTokenAsked(reply: Reply, fault: Fault, { second }: World): void {
  const { id, issuer } = second
  const fixed = { typeId: 'EXT-JWT', provider: 'url', httpMethod: 'GET' }
  const query = { ...fixed, httpUrl: '', id, issuer, clientId: '', scopes: [] }
  assertBlocked(reply, secondaryChallenge(fault, second), [query])
  assert.equal(reply.headers['totp-required'], undefined)
}

for (const [kind, begin] of Object.entries(KINDS)) {
  test(`R069: every call of a session asks for the token, ${kind}`, async (t) => {
    const world = await start(t)
    const { service, second, first, zoe } = world
    const session = await begin(service, zoe, await second.jwt('zoe'))

    for (const path of PATHS) {
      for (const [what, [fault, tokens]] of Object.entries(UNMET)) {
        await t.test(`SPEC 401 challenges: ${path} with ${what}: ${fault}`, async () => {
          const reply = await service.call(path, session(...(await tokens(world))))
          assertTokenAsked(reply, fault, world)
        })
      }

      await t.test(`${path} with the token is answered`, async () => {
        const token = await second.jwt('zoe')
        for (const tokens of [[token], [await first.jwt('x'), token], [token, 'x']]) {
          const reply = await service.call(path, session(...tokens))
          assert.equal(reply.status, 200, reply.text)
          assert.match(String(reply.headers['expiration-seconds']), /^\d+$/)
        }
      })
    }

    await t.test('D-14: too many tokens are refused', async () => {
      const many = Array<string>(4).fill(await second.jwt('zoe'))
      const reply = await service.call(IDENTITY, session(...many))
      const expected = kind === 'OIDC' ? INVALID : secondaryChallenge('invalid', second)
      assertChallenged(reply, expected)
    })

    await t.test(
      'a token that was good at the last call is asked for again at the next',
      async () => {
        const token = await second.jwt('zoe')
        assert.equal((await service.call(IDENTITY, session(token))).status, 200)
        assertTokenAsked(await service.call(IDENTITY, session()), 'missing', world)
        service.clock.advance(minutes(12))
        assertTokenAsked(await service.call(IDENTITY, session(token)), 'expired', world)
        const fresh = await second.jwt('zoe')
        assert.equal((await service.call(IDENTITY, session(fresh))).status, 200)
      },
    )

    await t.test('the external JWT alone is not a session', async () => {
      const token = await second.jwt('zoe')
      assertChallenged(await service.call(IDENTITY, bearer(token)), MISSING)
    })

    await t.test('D-52: logout asks for no token, and ends the session', async () => {
      const path = `${CLIENT_API}/current-api-session`
      const gone = await service.call(path, { method: 'DELETE', ...session() })
      assert.equal(gone.status, 200, gone.text)
      const reply = await service.call(IDENTITY, session(await second.jwt('zoe')))
      assertChallenged(reply, kind === 'OIDC' ? INVALID : NO_SUCH_SESSION)
    })

    await t.test('an identity that is disabled is out, whatever tokens it has', async () => {
      const other = await begin(service, zoe, await second.jwt('zoe'))
      assert.equal((await service.call(IDENTITY, other(await second.jwt('zoe')))).status, 200)
      await world.admin.act('POST', `/identities/${zoe.id}/disable`, { durationMinutes: 0 })
      const reply = await service.call(IDENTITY, other(await second.jwt('zoe')))
      assertChallenged(reply, kind === 'OIDC' ? INVALID : NO_SUCH_SESSION)
    })
  })

  test(`D-52: a policy that begins to demand a token while a session lives, ${kind}`, async (t) => {
    const world = await start(t)
    const { service, admin, second } = world
    const policy = await admin.createPolicy()
    const eve = await admin.createIdentity({ externalId: 'eve', password: PASSWORD, policy })
    const session = await begin(service, eve)
    assert.equal((await service.call(IDENTITY, session())).status, 200)

    await demand(admin, policy, { requireExtJwt: second.id })
    for (const path of PATHS) {
      assertTokenAsked(await service.call(path, session()), 'missing', world)
      assertTokenAsked(await service.call(path, session(await second.jwt('bob'))), 'invalid', world)
      const reply = await service.call(path, session(await second.jwt('eve')))
      assert.equal(reply.status, 200, reply.text)
    }

    await demand(admin, policy, { requireTotp: true })
    const token = await second.jwt('eve')
    const withToken = await service.call(IDENTITY, session(token))
    const without = await service.call(IDENTITY, session())
    if (kind === 'OIDC') {
      assertChallenged(withToken, CODE_DEMANDED)
      assertChallenged(without, CODE_DEMANDED)
    } else {
      assertChallenged(withToken, NO_SUCH_SESSION)
      assert.equal(withToken.headers['totp-required'], 'true')
      assertChallenged(without, secondaryChallenge('missing', second))
      assert.equal(without.headers['totp-required'], 'true')
      const types = without.json().authQueries.map(({ typeId }: { typeId: string }) => typeId)
      assert.deepEqual(types, ['MFA', 'EXT-JWT'])
      const path = `${CLIENT_API}/current-api-session`
      const partial = await service.call(path, session(token))
      assert.equal(partial.status, 200, 'D-51: what a partial session may read')
      assertChallenged(await service.call(path, session()), secondaryChallenge('missing', second))
    }
    const path = `${MANAGEMENT_API}/current-api-session`
    const gone = await service.call(path, { method: 'DELETE', ...session() })
    assert.equal(gone.status, 200, gone.text)
  })
}

test('how two tokens travel on a call', async (t) => {
  const { service, second, zoe } = await start(t)
  const session = await oidcSession(service, zoe, await second.jwt('zoe'))
  const [own = ''] = [session().headers?.['authorization']].flat()
  const token = own.replace('Bearer ', '')
  const theirs = await second.jwt('zoe')

  await t.test('D-14: as two fields or as one, in any order', async () => {
    for (const options of [
      bearers(token, theirs),
      bearers(theirs, token),
      inOneField(token, theirs),
      inOneField(theirs, token),
      { headers: { authorization: `bearer ${theirs},BEARER   ${token}` } },
    ]) {
      const reply = await service.call(IDENTITY, options)
      assert.equal(reply.status, 200, reply.text)
    }
  })

  await t.test('D-14: two fields as they stand on the wire', async (t) => {
    const connection = await connectRaw(service)
    t.after(() => connection.socket.destroy())
    const ask = async (...fields: readonly string[]) => {
      const host = `Host: ${new URL(service.baseUrl).host}`
      const lines = [`GET ${IDENTITY} HTTP/1.1`, host, ...fields]
      connection.send(`${lines.join('\r\n')}\r\n\r\n`)
      return connection.reply()
    }
    const [mine, other] = [`Authorization: Bearer ${token}`, `authorization: Bearer ${theirs}`]
    assert.equal((await ask(mine, other))?.status, 200)
    assert.equal((await ask(other, 'Accept: */*', mine))?.status, 200)
    const refused = await ask(mine)
    assert.equal(refused?.status, 401)
    assert.equal(refused.header('www-authenticate'), secondaryChallenge('missing', second))
  })
})

test('a valid external JWT does not make up for an invalid token of ours', async (t) => {
  const { service, second, zoe } = await start(t)
  const session = await oidcSession(service, zoe, await second.jwt('zoe'))
  const calls = async () => service.call(IDENTITY, session(await second.jwt('zoe')))
  assert.equal((await calls()).status, 200)
  service.clock.advance(minutes(31))
  assertChallenged(await calls(), EXPIRED)
  const theirs = await second.jwt('zoe')
  assertChallenged(await service.call(IDENTITY, bearers('x', theirs)), INVALID)
  assertChallenged(await service.call(IDENTITY, bearers(theirs)), MISSING)
  const headers = { 'zt-session': 'unknown', ...bearers(theirs).headers }
  assertChallenged(await service.call(IDENTITY, { headers }), NO_SUCH_SESSION)
})

test('R069: an administrator whose policy demands a token shows it on every management call', async (t) => {
  const { service, admin, second, policy } = await start(t)
  const boss = await admin.createIdentity({
    externalId: 'boss',
    password: PASSWORD,
    isAdmin: true,
    policy,
  })
  const session = await oidcSession(service, boss, await second.jwt('boss'))
  const list = `${MANAGEMENT_API}/identities`
  assertChallenged(await service.call(list, session()), secondaryChallenge('missing', second))
  assert.equal((await service.call(list, session(await second.jwt('boss')))).status, 200)
  const json = { name: 'nobody', type: 'Default', isAdmin: false }
  const refused = await service.call(list, { json, ...session() })
  assertChallenged(refused, secondaryChallenge('missing', second))
  const names = (await admin.get('/identities?limit=500')).map(({ name }: { name: string }) => name)
  assert.equal(names.includes('nobody'), false)

  const path = `/external-jwt-signers/${second.id}`
  const removal = await admin.call('DELETE', path)
  assertRefused(removal, 409, 'CAN_NOT_DELETE_REFERENCED_ENTITY')
})
