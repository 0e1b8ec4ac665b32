/**
 * Lists stay fast: with 100,000 identities, 100,000 sessions and 100,000 events every page (limit 10, offset under 1,000) and every
 * filter on an indexed field (docs/lists.md) costs over HTTP at most 20 times one row by its id. API 2. Both databases.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import type { TestContext } from 'node:test'
import { administrate, MANAGEMENT } from '../support/management.ts'
import { type Service, startService } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { fillPostgres, fillSqlite, SESSION_LIFE } from './servers/bulk.ts'

const ROWS = 100_000
const LIMIT = 20
const ROUNDS = 5

/** The page of a list that costs the most, in times of one row by its id. */
interface SlowestPage {
  readonly what: string
  readonly beside: string
  readonly ratio: number
  readonly limit: number
}

/** `--lists`: prints a line for each list on each database; the exit code is 1 if one is beyond the limit. */
export async function printSlowestPages(): Promise<void> {
  for (const { what, beside, ratio, limit } of await slowestPages()) {
    const verdict = ratio > limit ? 'beyond the limit of' : 'the limit is'
    console.log(`${what}: ${ratio.toFixed(2)} times ${beside} (${verdict} ${limit})`)
    if (ratio > limit) process.exitCode = 1
  }
}

/** For each list on each database. */
async function slowestPages(): Promise<readonly SlowestPage[]> {
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
  fillSqlite(db.path, ROWS, service.clock.now())
  return measure('SQLite', service)
}

async function onPostgres(t: TestContext): Promise<readonly SlowestPage[]> {
  const server = await startPostgres()
  t.after(() => server.stop())
  const url = await server.freshDatabase()
  const service = await startService(t, { config: { db: url } })
  await fillPostgres(url, ROWS, service.clock.now())
  return measure('PostgreSQL', service)
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
      `expiresAt > ${time(now + SESSION_LIFE + ROWS / 2)}`,
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
