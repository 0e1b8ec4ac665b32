/**
 * How many queries a list takes: the same number for one row and for a page of many. On SQLite every query blocks the
 * process, so a query per row would delay all other callers.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { KyselyPlugin } from 'kysely'
import type {
  ApiSessionId,
  AuthenticatorId,
  EnrollmentId,
  IdentityId,
  TotpEnrollmentId,
} from '../../src/base/ids.ts'
import type { Duration } from '../../src/base/time/duration.ts'
import type { ListQuery } from '../../src/domain/lists/list-query.ts'
import { listSessions } from '../../src/domain/management/manage-sessions.ts'
import { listEnrollments } from '../../src/domain/management/read-enrollments.ts'
import { listAuthenticators, listIdentities } from '../../src/domain/management/read-identities.ts'
import type { PageOf } from '../../src/domain/paging.ts'
import type { SessionPorts } from '../../src/domain/sessions/ports.ts'
import type { Stores } from '../../src/domain/stores.ts'
import { openMigrated, storesOn } from '../../src/store/open.ts'
import { fakePorts } from '../support/fake-ports.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, type TestDatabase } from './databases.ts'
import {
  aLegacySession,
  anAuthenticator,
  anEnrollment,
  anIdentity,
  anInvitation,
  aPolicy,
  hash,
  NOON,
} from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const FEW = { limit: 1, offset: 0 }
const MANY = { limit: 500, offset: 0 }
const ROWS = 40

for (const database of ALL) {
  suite(database.name, () => {
    test('a list takes as many queries for many rows as for one', async (t) => {
      const { stores, queriesOf } = await countingStores(t, await database.create(t))
      await fill(stores)
      const clock = { now: () => NOON, uptime: () => 0 as Duration }
      const reads = { ...stores, clock }
      const rules = { policy: () => aPolicy() }
      const { apiSessions, identities, totpEnrollments } = stores
      const ports = fakePorts<SessionPorts>({
        brand: 'latchkey',
        clock,
        rules,
        apiSessions,
        identities,
        totpEnrollments,
      })
      const lists: Readonly<Record<string, (query: ListQuery) => Promise<PageOf<object>>>> = {
        identities: (query) => listIdentities(reads, query),
        authenticators: (query) => listAuthenticators(reads, query),
        enrollments: (query) => listEnrollments(reads, query),
        sessions: (query) => listSessions(ports, undefined, query),
      }
      for (const [name, list] of Object.entries(lists)) {
        await t.test(name, async () => {
          const one = await queriesOf(() => list(FEW))
          const all = await queriesOf(() => list(MANY))
          assert.equal(one.outcome.rows.length, 1)
          assert.equal(all.outcome.rows.length, ROWS)
          assert.deepEqual(all.outcome.rows[0], one.outcome.rows[0])
          assert.equal(all.queries, one.queries)
          // The count, the page, and one query for each kind of thing that belongs to its rows.
          assert.ok(all.queries <= 8, `${all.queries} queries`)
        })
      }

      await t.test('each row gets what belongs to it', async () => {
        const { rows } = await listIdentities(reads, MANY)
        for (const { identity, authenticators, enrollments, ...rest } of rows) {
          const n = Number(identity.name)
          assert.deepEqual(
            authenticators.map(({ id }) => id),
            [`a${n}`],
          )
          assert.deepEqual(
            enrollments.map(({ id }) => id),
            n % 2 === 0 ? [`e${n}`] : [],
          )
          assert.equal(rest.isMfaEnabled, n % 3 === 0)
          assert.equal(rest.hasApiSession, true)
          assert.equal(rest.policy.name, aPolicy().name)
        }
        const owned = [
          ...(await listAuthenticators(reads, MANY)).rows.map((row) => ({
            ...row,
            owner: row.authenticator.identityId,
          })),
          ...(await listEnrollments(reads, MANY)).rows.map((row) => ({
            ...row,
            owner: row.enrollment.identityId,
          })),
        ]
        for (const { identity, owner } of owned) assert.equal(identity.id, owner)
        for (const detail of (await listSessions(ports, undefined, MANY)).rows) {
          assert.equal(detail.identity.id, detail.session.identityId)
          const isEnrolled = Number(detail.identity.name) % 3 === 0
          const [query] = detail.authQueries
          assert.ok(query?.typeId === 'MFA')
          assert.equal(query.isTotpEnrolled, isEnrolled)
        }
      })
    })
  })
}

/** Identities 0 to 39, each with one of everything; every second enrollment was used, every third TOTP verified. */
async function fill(stores: Stores): Promise<void> {
  await stores.authPolicies.insert(aPolicy())
  for (let n = 0; n < ROWS; n++) {
    const identityId = `i${n}` as IdentityId
    await stores.identities.insert(
      anIdentity({ id: identityId, name: String(n), externalId: undefined }),
    )
    const id = `a${n}` as AuthenticatorId
    await stores.authenticators.insert(anAuthenticator({ id, identityId, username: `u${n}` }))
    const usedAt = n % 2 === 0 ? undefined : NOON
    await stores.enrollments.insert(
      anInvitation(
        { id: `e${n}` as EnrollmentId, identityId, tokenHash: hash(`t${n}`), usedAt },
        { method: 'ott' },
      ),
    )
    const totp = anEnrollment({ id: `t${n}` as TotpEnrollmentId, identityId })
    await stores.totpEnrollments.replacePending(totp, [])
    if (n % 3 === 0) await stores.totpEnrollments.markVerified(totp, NOON)
    await stores.apiSessions.insert(
      aLegacySession({ id: `s${n}` as ApiSessionId, identityId, tokenHash: hash(`z${n}`) }),
    )
  }
}

async function countingStores(t: TestContext, { address }: TestDatabase) {
  const { db, database } = await openMigrated(address)
  t.after(() => db.destroy())
  let queries = 0
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    // Counted here, because a query whose text never changes is built only once.
    async transformResult({ result }) {
      queries += 1
      return result
    },
  }
  return {
    stores: storesOn(db.withPlugin(counter), database, () => {}),
    async queriesOf<T>(work: () => Promise<T>) {
      const before = queries
      const outcome = await work()
      return { outcome, queries: queries - before }
    },
  }
}
