/**
 * The registry of API sessions: what an administrator sees of everybody's, and how he ends them. API 3.3, 4.7; R051,
 * R108.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hours, minutes } from '../../../src/base/time/duration.ts'
import {
  ApiSessionListReply,
  ApiSessionReply,
} from '../../../src/contract/management/api-sessions.ts'
import { eventsOf } from '../../support/audit.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import {
  issueCertificate,
  type LiveSession,
  legacySession,
  oidcSession,
} from '../../support/edge/live-session.ts'
import { setUpApp, totpPolicy } from '../../support/login/authenticator-app.ts'
import { CLIENT_API, legacyTotpQuery } from '../../support/login/legacy.ts'
import { administrate, assertRefused, MANAGEMENT } from '../../support/management.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'a password of somebody'

async function world(t: TestContext) {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })
  return { service, admin, person }
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)

test('API 4.7: a session is shown as its caller sees it, whichever kind it is', async (t) => {
  const { service, admin, person } = await world(t)
  service.clock.hold()
  const now = service.clock.now()
  const rfc3339 = (at: number) => new Date(at).toISOString()
  for (const session of [
    await oidcSession(service, person),
    await legacySession(service, person),
  ]) {
    const reply = await admin.call('GET', `/api-sessions/${session.id}`)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(ApiSessionReply.parse(reply.json()), reply.json())
    const { data } = reply.json()
    const [authenticator] = await admin.get(`/identities/${person.id}/authenticators`)
    const isOidc = session.kind === 'oidc'
    // D-53: the expiry of the refresh token, or the idle end.
    const end = now + (isOidc ? hours(24) : minutes(30))
    assert.deepEqual(data, {
      id: session.id,
      createdAt: rfc3339(now),
      updatedAt: rfc3339(now),
      tags: {},
      _links: { self: { href: `./api-sessions/${session.id}` } },
      kind: session.kind,
      identityId: person.id,
      identity: {
        id: person.id,
        name: person.name,
        entity: 'identities',
        _links: { self: { href: `./identities/${person.id}` } },
      },
      authenticatorId: authenticator.id,
      clientId: isOidc ? 'service' : null,
      amr: ['pwd'],
      configTypes: [],
      authQueries: [],
      isMfaRequired: false,
      isMfaComplete: true,
      ipAddress: '127.0.0.1',
      userAgent: null,
      lastActivityAt: isOidc ? null : rfc3339(now),
      expiresAt: rfc3339(end),
      expirationSeconds: Math.floor((end - now) / 1_000),
    })
  }
})

test('API 4.7: what is outstanding of a login is shown as it stands', async (t) => {
  const { service, admin } = await world(t)
  const policy = await totpPolicy(admin)
  const person = await admin.createIdentity({ password: PASSWORD, policy })
  const session = await legacySession(service, person)
  const seen = () => admin.get(`/api-sessions/${session.id}`)
  const partial = await seen()
  assert.deepEqual(partial.authQueries, [legacyTotpQuery(false)])
  assert.deepEqual([partial.isMfaRequired, partial.isMfaComplete], [true, false])
  await setUpApp(service, person)
  assert.deepEqual((await seen()).authQueries, [legacyTotpQuery(true)])
})

test('API 3.3: both kinds are listed newest first, with paging, and those that expired are not', async (t) => {
  const { service, admin, person } = await world(t)
  service.clock.hold()
  const made: LiveSession[] = []
  for (const begin of [oidcSession, legacySession, oidcSession]) {
    service.clock.advance(minutes(1))
    made.unshift(await begin(service, person))
  }
  const reply = await admin.call('GET', '/api-sessions')
  assert.deepEqual(ApiSessionListReply.parse(reply.json()), reply.json())
  const { data, meta } = reply.json()
  const own = await admin.get('/current-api-session')
  assert.deepEqual(idsOf(data), [...idsOf(made), own.id])
  assert.deepEqual(meta.pagination, { limit: 10, offset: 0, totalCount: 4 })
  assert.deepEqual(
    data.map(({ kind }: LiveSession) => kind),
    ['oidc', 'legacy', 'oidc', 'oidc'],
  )
  assert.deepEqual(idsOf(await admin.get('/api-sessions?limit=2&offset=1')), idsOf(made).slice(1))
  assertRefused(
    await admin.call('GET', '/api-sessions?limit=0'),
    400,
    'INVALID_PAGINATION',
    'limit',
  )

  const list = `/identities/${person.id}/api-sessions`
  const mine = await admin.call('GET', list)
  assert.deepEqual(ApiSessionListReply.parse(mine.json()), mine.json())
  assert.deepEqual(idsOf(mine.json().data), idsOf(made))
  assert.equal(mine.json().meta.pagination.totalCount, 3)

  // The legacy session is idle; the others can still be refreshed, and the administrator logs in anew.
  service.clock.advance(minutes(31))
  const later = await administrate(service)
  assert.deepEqual(idsOf(await later.get(list)), [made[0]?.id, made[2]?.id])
  assertRefused(await later.call('GET', `/api-sessions/${made[1]?.id}`), 404, 'NOT_FOUND')
})

test('R108: neither a list nor a detail shows a token or the hash of one', async (t) => {
  const { service, admin, person } = await world(t)
  const sessions = [await oidcSession(service, person), await legacySession(service, person)]
  const { pem } = await makeCsr({ subject: '/CN=MARKER' })
  for (const session of sessions) await issueCertificate(session, pem)
  const hashes = [
    ...(await sql(
      service,
      'select token_hash as hash from api_sessions where token_hash is not null',
    )),
    ...(await sql(service, 'select hash from refresh_tokens')),
  ].map((row) => String(row['hash']))
  assert.ok(hashes.length >= 2)
  const secrets = [
    ...hashes,
    ...sessions.flatMap(({ token, refreshToken }) => [token, refreshToken ?? token]),
  ]
  const answers = [
    await admin.call('GET', '/api-sessions?limit=500'),
    await admin.call('GET', `/identities/${person.id}/api-sessions`),
    ...(await Promise.all(sessions.map(({ id }) => admin.call('GET', `/api-sessions/${id}`)))),
  ]
  for (const { text, rawHeaders } of answers) {
    const all = text + rawHeaders.join('\n')
    for (const secret of secrets) assert.ok(!all.includes(secret))
    assert.doesNotMatch(all, /token|hash|refresh|MARKER|jti|BEGIN/i)
  }
})

test('R051: ending one session ends only that one, and records who did it', async (t) => {
  const { service, admin, person } = await world(t)
  const [gone, kept] = [await oidcSession(service, person), await oidcSession(service, person)]
  const reply = await admin.call('DELETE', `/api-sessions/${gone.id}`)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.json(), { data: {}, meta: {} })
  const [event, ...more] = await eventsOf(service, reply)
  assert.deepEqual(more, [])
  assert.equal(event?.type, 'session.ended')
  assert.deepEqual(
    [event.reason, event.sessionId, event.identityId],
    ['administrator', gone.id, person.id],
  )
  assert.equal((await gone.call(`${CLIENT_API}/current-identity`)).status, 401)
  assert.equal((await kept.call(`${CLIENT_API}/current-identity`)).status, 200)
  assertRefused(await admin.call('GET', `/api-sessions/${gone.id}`), 404, 'NOT_FOUND')
  assertRefused(await admin.call('DELETE', `/api-sessions/${gone.id}`), 404, 'NOT_FOUND')
})

test('R051: an administrator may end their own session', async (t) => {
  const { admin } = await world(t)
  const { id } = await admin.get('/current-api-session')
  await admin.act('DELETE', `/api-sessions/${id}`)
  assertRefused(await admin.call('GET', '/current-api-session'), 401, 'UNAUTHORIZED')
})

test('API 3.3: end-all wants to be confirmed, to the letter', async (t) => {
  const { service, admin, person } = await world(t)
  const session = await oidcSession(service, person)
  for (const [json, field] of [
    [{}, 'confirm'],
    [{ confirm: false }, 'confirm'],
    [{ confirm: 'true' }, 'confirm'],
    [{ confirm: 1 }, 'confirm'],
    [{ confirm: true, also: 1 }, 'also'],
    [[], 'body'],
  ] as const) {
    const reply = await admin.call('POST', '/api-sessions/end-all', json)
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', field)
    if (field === 'confirm' && 'confirm' in json) {
      assert.equal(reply.json().error.cause.reason, 'must be true')
    }
  }
  assertRefused(
    await admin.call('POST', '/api-sessions/end-all'),
    400,
    'COULD_NOT_VALIDATE',
    'confirm',
  )
  assert.equal((await session.call(`${CLIENT_API}/current-identity`)).status, 200)
})

test('R051: end-all ends more sessions than one transaction takes', async (t) => {
  const { service, admin, person } = await world(t)
  const session = await legacySession(service, person)
  // Copies of a real one, past the service: a thousand logins would take their time.
  const [columns] = await sql(service, `select * from api_sessions where id = '${session.id}'`)
  const names = Object.keys(columns ?? {})
  const values = names.map((name) =>
    name === 'id' ? "'copy-' || n" : name === 'token_hash' ? "'hash-' || n" : name,
  )
  await sql(
    service,
    `with recursive count(n) as (select 1 union all select n + 1 from count where n < 1100)
     insert into api_sessions (${names.join(', ')})
     select ${values.join(', ')} from api_sessions, count where id = '${session.id}'`,
  )
  await admin.act('POST', '/api-sessions/end-all', { confirm: true })
  const [left] = await sql(service, 'select count(*) as n from api_sessions')
  const [ended] = await sql(service, 'select count(*) as n from session_endings')
  assert.equal(Number(left?.['n']), 0)
  assert.ok(Number(ended?.['n']) >= 1102)
})

test('an identity or a session that is not there is 404', async (t) => {
  const { admin } = await world(t)
  for (const id of ['nothing', '%00', 'x'.repeat(90), "'%20or%201=1"]) {
    for (const path of [`/api-sessions/${id}`, `/identities/${id}/api-sessions`]) {
      assertRefused(await admin.call('GET', path), 404, 'NOT_FOUND')
      assertRefused(await admin.call('DELETE', path), 404, 'NOT_FOUND')
    }
  }
})

test('D-38: another identity, and a partial session, can neither read nor end sessions', async (t) => {
  const { service, admin, person } = await world(t)
  const session = await oidcSession(service, person)
  const paths = [
    '/api-sessions',
    `/api-sessions/${session.id}`,
    `/identities/${person.id}/api-sessions`,
  ]
  for (const path of paths) {
    assertRefused(await session.call(`${MANAGEMENT}${path}`), 403, 'FORBIDDEN')
  }
  for (const path of paths.slice(1)) {
    const reply = await session.call(`${MANAGEMENT}${path}`, { method: 'DELETE' })
    assertRefused(reply, 403, 'FORBIDDEN')
  }
  const all = { json: { confirm: true } }
  assertRefused(await session.call(`${MANAGEMENT}/api-sessions/end-all`, all), 403, 'FORBIDDEN')
  assert.equal((await session.call(`${CLIENT_API}/current-identity`)).status, 200)
  assert.ok(await admin.get('/current-api-session'))
})
