/**
 * Whatever ends a session, everything of it ends, at once: its credential on every route, its refresh token and its
 * certificates. And nothing else ends with it. D-34, D-52, R048, R051, R101.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { days, minutes, seconds } from '../../../src/base/time/duration.ts'
import type { Route } from '../../../src/http/route.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import {
  CERTIFICATES,
  issueCertificate,
  type LiveSession,
  oidcSession,
  SESSIONS,
} from '../../support/edge/live-session.ts'
import { EXPIRED, INVALID, NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { assertRefreshRefused, refresh, refreshed, revoke } from '../../support/login/refresh.ts'
import {
  type Administrator,
  administrate,
  type CreatedIdentity,
  MANAGEMENT,
} from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const { pem: CSR } = await makeCsr()
const PASSWORD = 'a password of somebody'

interface World {
  readonly service: Service
  readonly admin: Administrator
  readonly person: CreatedIdentity
}

interface Cause {
  readonly kinds: readonly (keyof typeof SESSIONS)[]
  /** The reason in the event. */
  readonly reason: string
  /** Only this session; or everything of the identity. */
  readonly reach: 'session' | 'identity'
  end(session: LiveSession, world: World): Promise<unknown>
}

const BOTH = ['oidc', 'legacy'] as const

const CAUSES: Readonly<Record<string, Cause>> = {
  logout: {
    kinds: BOTH,
    reason: 'logout',
    reach: 'session',
    end: (session) => done(session.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })),
  },
  'logout at the management API': {
    kinds: BOTH,
    reason: 'logout',
    reach: 'session',
    end: (session) => done(session.call(`${MANAGEMENT}/current-api-session`, { method: 'DELETE' })),
  },
  'end_session with the ID token': {
    kinds: ['oidc'],
    reason: 'logout',
    reach: 'session',
    end: ({ idToken }, { service }) =>
      done(service.call(`/oidc/end_session?id_token_hint=${idToken}`)),
  },
  'end_session with the access token': {
    kinds: ['oidc'],
    reason: 'logout',
    reach: 'session',
    end: (session) => done(session.call('/oidc/end_session')),
  },
  'revoking the refresh token': {
    kinds: ['oidc'],
    reason: 'revoked',
    reach: 'session',
    end: ({ refreshToken }, { service }) => done(revoke(service, refreshToken ?? '')),
  },
  'a refresh token that is used again': {
    kinds: ['oidc'],
    reason: 'refresh-token-reused',
    reach: 'session',
    async end({ refreshToken = '' }, { service }) {
      await refreshed(service, refreshToken)
      service.clock.advance(seconds(11))
      assertRefreshRefused(await refresh(service, refreshToken))
    },
  },
  'an administrator': {
    kinds: BOTH,
    reason: 'administrator',
    reach: 'session',
    end: ({ id }, { admin }) => admin.act('DELETE', `/api-sessions/${id}`),
  },
  'an administrator who ends all of the identity': {
    kinds: BOTH,
    reason: 'administrator',
    reach: 'identity',
    end: (_, { admin, person }) => admin.act('DELETE', `/identities/${person.id}/api-sessions`),
  },
  'disabling the identity': {
    kinds: BOTH,
    reason: 'identity-disabled',
    reach: 'identity',
    end: (_, { admin, person }) =>
      admin.act('POST', `/identities/${person.id}/disable`, { durationMinutes: 0 }),
  },
  'deleting the identity': {
    kinds: BOTH,
    reason: 'identity-deleted',
    reach: 'identity',
    end: (_, { admin, person }) => admin.act('DELETE', `/identities/${person.id}`),
  },
  'removing the authenticator': {
    kinds: BOTH,
    reason: 'authenticator-removed',
    reach: 'identity',
    async end(_, { admin, person }) {
      const [authenticator] = await admin.get(`/identities/${person.id}/authenticators`)
      await admin.act('DELETE', `/authenticators/${authenticator.id}`)
    },
  },
}

async function done(call: Promise<{ status: number; text: string }>): Promise<void> {
  const reply = await call
  assert.equal(reply.status, 200, reply.text)
}

async function world(t: TestContext): Promise<World> {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })
  return { service, admin, person }
}

async function certificatesOf(service: Service, { id }: LiveSession): Promise<number> {
  const [row] = await sql(
    service,
    `select count(*) as n from session_certificates where session_id = '${id}'`,
  )
  return Number(row?.['n'])
}

/** Nothing of the session does anything any more. */
async function assertEnded(service: Service, session: LiveSession): Promise<void> {
  const reply = await session.call(`${CLIENT_API}/current-identity`)
  assert.equal(reply.status, 401, reply.text)
  const challenge = session.kind === 'oidc' ? INVALID : NO_SUCH_SESSION
  assert.equal(reply.headers['www-authenticate'], challenge)
  assert.equal((await session.call(CERTIFICATES)).status, 401)
  assert.equal(await certificatesOf(service, session), 0)
  if (session.refreshToken !== undefined) {
    assertRefreshRefused(await refresh(service, session.refreshToken))
  }
  const [row] = await sql(service, `select id from api_sessions where id = '${session.id}'`)
  assert.equal(row, undefined)
}

for (const [what, { kinds, reason, reach, end }] of Object.entries(CAUSES)) {
  test(`D-34: by ${what}, everything of a session ends at once`, async (t) => {
    for (const kind of kinds) {
      const all = await world(t)
      const { service, admin, person } = all
      const session = await SESSIONS[kind](service, person)
      const another = await SESSIONS[kind](service, person)
      const certificate = await issueCertificate(session, CSR)
      await issueCertificate(another, CSR)
      await end(session, all)
      await assertEnded(service, session)

      if (reach === 'identity') await assertEnded(service, another)
      else {
        const still = await another.call(CERTIFICATES)
        assert.equal(still.status, 200, still.text)
        assert.equal(still.json().data.length, 1)
        assert.notEqual(still.json().data[0].id, certificate.id)
      }
      const events = await sql(
        service,
        `select reason from events where type = 'session.ended' and session_id = '${session.id}'`,
      )
      assert.deepEqual(
        events.map((event) => event['reason']),
        [reason],
        'one event, R109',
      )
      const mine = await admin.get('/current-api-session')
      assert.ok(mine.id, 'and the administrator goes on')
    }
  })
}

test('D-53: an expired session is over everywhere, without a call that ends it', async (t) => {
  const { service, person } = await world(t)
  service.clock.hold()
  const oidc = await oidcSession(service, person)
  const legacy = await SESSIONS.legacy(service, person)
  for (const session of [oidc, legacy]) await issueCertificate(session, CSR)

  service.clock.advance(minutes(30))
  const late = await oidc.call(CERTIFICATES)
  assert.equal(late.headers['www-authenticate'], EXPIRED)
  assert.equal((await legacy.call(CERTIFICATES)).headers['www-authenticate'], NO_SUCH_SESSION)

  service.clock.advance(days(1))
  assertRefreshRefused(await refresh(service, oidc.refreshToken ?? ''))
  const admin = await administrate(service)
  for (const { id } of [oidc, legacy]) {
    assert.equal((await admin.call('GET', `/api-sessions/${id}`)).status, 404)
  }
  assert.deepEqual(await admin.get(`/identities/${person.id}/api-sessions`), [])
})

test('R051: end-all ends the sessions of all identities, including the caller, and new logins work', async (t) => {
  const { service, admin, person } = await world(t)
  const sessions = [
    await oidcSession(service, person),
    await SESSIONS.legacy(service, person),
    await oidcSession(service),
    await SESSIONS.legacy(service),
  ]
  for (const session of sessions) await issueCertificate(session, CSR)
  await admin.act('POST', '/api-sessions/end-all', { confirm: true })
  for (const session of sessions) await assertEnded(service, session)
  const own = await admin.call('GET', '/current-api-session')
  assert.equal(own.headers['www-authenticate'], INVALID)
  for (const begin of Object.values(SESSIONS)) {
    const reply = await (await begin(service, person)).call(CERTIFICATES)
    assert.equal(reply.status, 200, reply.text)
  }
})

test('D-35, R071: every route that asks for a session refuses an ended one, of either kind', async (t) => {
  // Attack: one route among many that looks at the signature alone.
  const service = await startService(t)
  const guarded: readonly Route['access'][] = ['session', 'partial', 'logout', 'admin']
  const routes = service.instance.listeners
    .flatMap((listener) => listener.routes)
    .filter(({ access }) => guarded.includes(access))
  assert.ok(routes.length > 60, `${routes.length}`)
  for (const [kind, begin] of Object.entries(SESSIONS)) {
    const session = await begin(service)
    const csr = await issueCertificate(session, CSR)
    await done(session.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' }))
    for (const { method, url } of routes) {
      const address = url.replaceAll(/:\w+/g, csr.id)
      const reply = await session.call(address, { method })
      const where = `${method} ${url}, ${kind}`
      assert.equal(reply.status, 401, where)
      const challenge = kind === 'oidc' ? INVALID : NO_SUCH_SESSION
      assert.equal(reply.headers['www-authenticate'], challenge, where)
      assert.equal(reply.headers['expires-at'], undefined, where)
    }
  }
})
