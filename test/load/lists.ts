/**
 * Lists stay fast: with 100,000 identities, 100,000 sessions and 100,000 events every page (limit 10, offset under 1,000) and every
 * filter on an indexed field (docs/lists.md) costs over HTTP at most 20 times one row by its id. API 2. Both databases.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import { administrate, MANAGEMENT } from '../support/management.ts'
import { type Service, startService } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'

const ROWS = 100_000
const LIMIT = 20
const ROUNDS = 5

/** Of a session. */
const LIFE = 3_600_000

/** The page of a list that costs the most, in times of one row by its id. */
export interface SlowestPage {
  readonly what: string
  readonly beside: string
  readonly ratio: number
  readonly limit: number
}

/** For each list on each database. */
export async function slowestPages(): Promise<readonly SlowestPage[]> {
  const ends: (() => unknown)[] = []
  // All that the service of the tests asks of a test.
  const t = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext
  try {
    return [...(await onSqlite(t)), ...(await onPostgres(t))]
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

async function onSqlite(t: TestContext): Promise<readonly SlowestPage[]> {
  const service = await startService(t)
  const { db } = service.config
  assert.ok(db.kind === 'sqlite')
  const database = new DatabaseSync(db.path, { timeout: 30_000 })
  for (const statement of fill(service.clock.now())) database.exec(statement)
  database.close()
  return measure('SQLite', service)
}

async function onPostgres(t: TestContext): Promise<readonly SlowestPage[]> {
  const server = await startPostgres()
  t.after(() => server.stop())
  const url = await server.freshDatabase()
  const service = await startService(t, { config: { db: url } })
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const statement of fill(service.clock.now())) await client.query(statement)
  // What a server does by itself before long, and the one of the tests does not.
  await client.query('vacuum analyze')
  await client.end()
  return measure('PostgreSQL', service)
}

/** Names are in another order than beginnings; half have an external id, a tenth another policy, a hundredth is disabled. */
function fill(now: number): readonly string[] {
  const numbers = `with recursive numbers (n) as (
    select 1 union all select n + 1 from numbers where n < ${ROWS}
  )`
  return [
    `insert into auth_policies select 'staff', 'staff', body, tags, created_at, updated_at
      from auth_policies where id = 'default'`,
    `insert into identities
      (id, name, type, is_admin, external_id, auth_policy_id, role_attributes, app_data, tags, disabled_at,
       disabled_until, created_at, updated_at)
      ${numbers}
      select 'i' || n, 'user-' || ((n * 7919) % ${ROWS}), 'Default', 0, case when n % 2 = 0 then 'x' || n end,
        case when n % 10 = 0 then 'staff' else 'default' end, '["one","two"]', '{}', '{"floor":3}',
        case when n % 100 = 0 then ${now} end, null, ${now} - n, ${now} - n
      from numbers`,
    `insert into authenticators
      (id, identity_id, method, username, username_key, password_hash, tags, created_at, updated_at)
      ${numbers}
      select 'a' || n, 'i' || n, 'updb', 'name-' || n, 'name-' || n, 'hash', '{}', ${now} - n, ${now} - n
      from numbers`,
    `insert into api_sessions
      (id, kind, identity_id, authenticator_id, proof, amr, config_types, address, user_agent, issuer, client_id,
       scopes, is_totp_proven, created_at, ends_at, expires_at)
      ${numbers}
      select 's' || n, 'oidc', 'i' || n, 'a' || n,
        '{"primary":{"method":"password","at":${now}},"extJwt":null}', '["pwd"]', '[]', '192.0.2.1', 'bench',
        'https://localhost/oidc', 'service', '["openid"]', 0, ${now} - n, ${now + LIFE}, ${now + LIFE} + n
      from numbers`,
    `insert into events
      (id, at, type, actor_id, identity_id, session_id, address, request_id, user_agent, reason, details)
      ${numbers}
      select 'e' || n, ${now} - n, case when n % 10 = 0 then 'login.failed' else 'token.refreshed' end,
        case when n % 1000 = 0 then 'i1' end, 'i' || n, 's' || n, '192.0.2.1', 'r' || n, 'bench',
        case when n % 10 = 0 then 'wrong-password' end, '{}'
      from numbers`,
  ]
}

const ONE_ROW = '/identities/i500'

const SORTS: Readonly<Record<string, readonly string[]>> = {
  '/identities': ['id', 'name', 'createdAt', 'updatedAt'],
  '/authenticators': ['id', 'createdAt'],
  '/api-sessions': ['id', 'createdAt', 'expiresAt'],
  '/events': ['id', 'at'],
}

/** With few matches. */
const SELECTIVE = (now: number): Readonly<Record<string, readonly string[]>> => {
  const recent = time(now - 10)
  return {
    '/identities': [
      'id = "i77"',
      'name = "user-77"',
      'name in ["user-1", "user-2", "nobody"]',
      'externalId = "x78"',
      'type = "Router"',
      'isAdmin = true',
      'disabledAt != null',
      `disabledAt > ${time(now + 1)}`,
      `createdAt >= ${recent}`,
      `updatedAt >= ${recent}`,
    ],
    '/authenticators': [
      'id = "a77"',
      'identityId = "i77"',
      'username = "name-77"',
      'method = "cert"',
      `createdAt >= ${recent}`,
    ],
    '/api-sessions': [
      'id = "s77"',
      'identityId = "i77"',
      'authenticatorId = "a77"',
      'kind = "legacy"',
      `createdAt >= ${recent}`,
    ],
    '/events': [
      'id = "e77"',
      'type = "login.locked"',
      'identityId = "i77"',
      'sessionId = "s77"',
      'actorId = "i1"',
      'requestId = "r77"',
      `at >= ${recent}`,
    ],
  }
}

/** With many matches, or all. */
const BROAD = (now: number): Readonly<Record<string, readonly string[]>> => {
  const half = time(now - ROWS / 2)
  const ever = time(now - ROWS)
  return {
    '/identities': [
      'name between "user-5" and "user-6"',
      'externalId = null',
      'authPolicyId = "staff"',
      'authPolicyId = "default"',
      'authPolicyId in ["staff", "default"]',
      'type = "Default"',
      'isAdmin = false',
      'disabledAt != null',
      `createdAt >= ${half}`,
      `createdAt >= ${ever}`,
      `updatedAt >= ${half}`,
      `createdAt < ${half} sort by createdAt desc`,
    ],
    '/authenticators': ['method = "updb"', `createdAt >= ${half}`],
    '/api-sessions': [
      'kind = "oidc"',
      `createdAt >= ${half}`,
      `expiresAt > ${time(now + LIFE + ROWS / 2)}`,
    ],
    '/events': [
      'type = "token.refreshed"',
      'type = "login.failed"',
      'actorId = null',
      `at >= ${half}`,
      `type = "token.refreshed" and at >= ${half}`,
    ],
  }
}

function time(at: number): string {
  return `datetime("${new Date(at).toISOString()}")`
}

async function measure(database: string, service: Service): Promise<readonly SlowestPage[]> {
  const { token } = await administrate(service)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const costOf = async (path: string): Promise<number> => {
    const begun = performance.now()
    const headers = { authorization: `Bearer ${token}` }
    const reply = await service.call(`${MANAGEMENT}${path}`, { headers, agent })
    const cost = performance.now() - begun
    assert.equal(reply.status, 200, `${path}: ${reply.text}`)
    return cost
  }
  try {
    for (let i = 0; i < 50; i++) await costOf(ONE_ROW) // warm
    const slowest: SlowestPage[] = []
    for (const list of Object.keys(SORTS)) {
      let ratio = 0
      let worst = ''
      for (const path of pagesOf(list, service.clock.now())) {
        const cost = await compare(
          () => costOf(path),
          () => costOf(ONE_ROW),
        )
        if (cost > ratio) [ratio, worst] = [cost, path]
      }
      const what = `${database}: ${decodeURIComponent(worst)}`
      slowest.push({ what, beside: 'one row by its id', ratio, limit: LIMIT })
    }
    return slowest
  } finally {
    agent.destroy()
  }
}

function pagesOf(list: string, now: number): readonly string[] {
  const filtered = (filter: string) => `${list}?filter=${encodeURIComponent(filter)}`
  return [
    list,
    `${list}?offset=990`,
    ...(SORTS[list] ?? []).flatMap((field) =>
      ['asc', 'desc'].map((way) => `${list}?offset=990&sort=${field}%20${way}`),
    ),
    ...(SELECTIVE(now)[list] ?? []).map(filtered),
    ...(BROAD(now)[list] ?? []).map((filter) => `${filtered(filter)}&offset=990`),
  ]
}

/** The middle of several pairs, so that a busy moment hits both. */
async function compare(work: () => Promise<number>, bare: () => Promise<number>): Promise<number> {
  await work() // warm
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) ratios.push((await work()) / (await bare()))
  return ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN
}
