/**
 * PostgreSQL: a pool for the work of callers, and a few connections kept aside for what must not wait behind it (D-297).
 * The URL sets the hosts, TLS (`sslmode`, `sslrootcert`) and what is expected of the server.
 */
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely'
import { DatabaseError } from 'pg'
import type { Secret } from '../../base/secrets/secret.ts'
import { instant } from '../../base/time/instant.ts'
import { type PostgresUrl, readPostgresUrl } from '../../base/urls/postgres-url.ts'
import { StoreUnavailable } from '../../errors/store-unavailable.ts'
import type { Database } from './database.ts'
import { unavailable } from './guarded.ts'
import { beginSession } from './postgres/begin-session.ts'
import { PostgresDriver } from './postgres/driver.ts'
import { ASIDE_LIMITS, SERVICE_LIMITS } from './postgres/limits.ts'
import type { Link } from './postgres/link.ts'
import { createTriggers, type Listener, listen, MARK } from './postgres/notices.ts'
import { Pool } from './postgres/pool.ts'
import { createRoute } from './postgres/route.ts'
import { spendRefreshToken } from './postgres/spend-refresh-token.ts'
import { CREATE_TIMELINES_TABLE, createTimelines } from './postgres/timelines.ts'
import { postgresLists } from './postgres-lists.ts'
import { postgresWhole } from './postgres-whole.ts'

const DEFAULT_MAX_CONNECTIONS = 10
/** Of these, how many are kept aside. One more listens for changes. */
const ASIDE_CONNECTIONS = 2
const LISTENING_CONNECTIONS = 1
/** With fewer connections than this, none is kept aside. */
const ENOUGH_TO_SHARE = 4

/**
 * SQLSTATEs of a database that cannot be used now, as classes or complete codes (PostgreSQL, Appendix A): no connection
 * (08), login not allowed (28), conflicts that a retry resolves (40001, 40P01; 23503: what the row refers to was deleted
 * meanwhile, D-284), database does not exist (3D), read-only as a standby is (25006), timeouts (25P03, 25P04, 57014),
 * out of resources (53), lock not granted (55P03), shutting down, starting or gone (57P), system errors (58), damage
 * (XX001, XX002), a prepared statement that a migration has outdated (0A000, 26000).
 */
const TROUBLE =
  /^(?:08|28|3D|53|57P|58)|^(?:0A000|23503|25006|25P03|25P04|26000|40001|40P01|55P03|57014|XX001|XX002)$/

/** Any number that nothing else in the same database uses as an advisory lock. */
const MIGRATION_LOCK = 7_311_640_018

export interface PostgresOptions {
  /** Of this process, all together. */
  readonly maxConnections?: number | undefined
  /** Remembers the history of the server over restarts (D-296). */
  readonly timelineFile?: string | undefined
}

export function postgres(url: Secret, options: PostgresOptions = {}): Database {
  const { maxConnections = DEFAULT_MAX_CONNECTIONS, timelineFile } = options
  const target = readTarget(url)
  const timelines = createTimelines(timelineFile)
  const route = createRoute(target, timelines)
  const aside = maxConnections < ENOUGH_TO_SHARE ? 0 : ASIDE_CONNECTIONS
  const isLimited = () => route.givesUp
  const dialect = (pool: Pool, onDestroy: () => Promise<void>) => ({
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver({ pool, isLimited, onDestroy }),
    createIntrospector: (db: never) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  })

  let listener: Listener | undefined
  const listening = maxConnections > ENOUGH_TO_SHARE ? LISTENING_CONNECTIONS : 0
  const pool = new Pool(route, SERVICE_LIMITS, maxConnections - aside - listening)
  const asidePool = aside === 0 ? pool : new Pool(route, ASIDE_LIMITS, aside)
  const rethrow = (error: unknown) => {
    throw isTrouble(error) ? unavailable({ name: target.name }, error) : error
  }
  return {
    name: target.name,
    dialect: dialect(pool, () => {
      listener?.stop()
      return route.end()
    }),
    ...(aside === 0 ? {} : { dialectAside: dialect(asidePool, async () => {}) }),
    sequenceKey: 'bigint generated always as identity primary key',
    sortedText: 'text collate "C"',
    // Not written to the log: an insert waits for no disk, and a standby does not get it.
    passingTable: 'unlogged table',
    hasOneWriter: false,
    lists: postgresLists,
    whole: postgresWhole,
    async lockMigrations(transaction) {
      // A migration may take long, and so may the wait for another instance that migrates.
      await postgresWhole.liftLimits(transaction)
      await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(transaction)
    },
    async readTime(db) {
      const { rows } = await sql<{ time: number }>`
        select (extract(epoch from clock_timestamp()) * 1000)::bigint as time
      `.execute(db)
      return rows[0] && instant(rows[0].time)
    },
    isTrouble,
    completeSchema: async (transaction) => {
      await sql.raw(CREATE_TIMELINES_TABLE).execute(transaction)
      await createTriggers(transaction)
    },
    openVersion: () => ({
      current: shared(() => readMark(asidePool, listener?.link).catch(rethrow)),
      close: () => {},
    }),
    changes: {
      follow(onNotice) {
        listener ??= listen(route, onNotice)
      },
      isPushed: () => listener?.link !== undefined,
    },
    async beginService() {
      route.giveUpOnSilence()
      const link = await pool.acquire()
      try {
        await timelines.admit(link)
      } finally {
        pool.release(link)
      }
    },
    spendRefreshToken: { inOneStatement: spendRefreshToken },
    beginSession: { inOneStatement: beginSession },
    withoutContent(error) {
      // Both quote values: "Failing row contains (…)".
      if (error instanceof DatabaseError) {
        error.detail = undefined
        error.where = undefined
      }
    },
  }
}

/** On the connection that listens, if there is one, so that its silence is noticed. */
async function readMark(pool: Pool, listening: Link | undefined): Promise<string> {
  const link = listening ?? (await pool.acquire())
  try {
    const { rows } = await link.run({ text: MARK })
    return (rows[0] as { mark: string }).mark
  } finally {
    if (link !== listening) pool.release(link)
  }
}

/** Those who ask at the same time share an answer. It is asked for after all of them have asked, so it is never old. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined
  return () => {
    next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      next = undefined
      return ask()
    })
    return next
  }
}

/** An error without an SQLSTATE comes from the connection, or is a bug in this program. */
function isTrouble(error: unknown): boolean {
  if (error instanceof DatabaseError) return TROUBLE.test(error.code ?? '')
  const isMistake = error instanceof TypeError || error instanceof RangeError
  return error instanceof Error && !isMistake && error.name !== 'AbortedTransactionError'
}

function readTarget(url: Secret): PostgresUrl {
  const reading = readPostgresUrl(url.reveal())
  if (reading.ok) return reading.value
  throw new StoreUnavailable(`cannot use the database of the given URL: it ${reading.problem}`)
}
