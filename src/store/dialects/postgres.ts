/**
 * PostgreSQL through a pool. The URL sets TLS (`sslmode`, `sslrootcert`).
 *
 * No transaction lasts longer than 30 seconds, so that an abandoned one blocks nothing, and a reader that follows a
 * table by its sequence numbers knows how late a lower number can appear. No statement runs longer than four seconds,
 * so that a connection without a response for five no longer has a server (D-251).
 */
import { PostgresDialect, sql } from 'kysely'
import { type ClientBase, DatabaseError, types } from 'pg'
import type { Secret } from '../../base/secrets/secret.ts'
import { instant } from '../../base/time/instant.ts'
import type { Database } from './database.ts'
import { postgresLists } from './postgres-lists.ts'
import { openPool } from './postgres-pool.ts'
import { postgresWhole } from './postgres-whole.ts'

const TRANSACTION_LIMIT_MS = 30_000
const STATEMENT_LIMIT_MS = 4_000
const DEFAULT_MAX_CONNECTIONS = 10

/** `transaction_timeout` came with PostgreSQL 17; before it, the other two leave the fewest gaps. */
const LIMITS_MS: Readonly<Record<string, number>> = {
  transaction_timeout: TRANSACTION_LIMIT_MS,
  statement_timeout: STATEMENT_LIMIT_MS,
  idle_in_transaction_session_timeout: TRANSACTION_LIMIT_MS,
}
const LIMITS = Object.keys(LIMITS_MS)

/**
 * SQLSTATEs of a database that cannot be used now, as classes or complete codes (PostgreSQL, Appendix A): no connection
 * (08), login not allowed (28), conflicts that a retry resolves (40001, 40P01), database does not exist (3D), read-only
 * as a standby is (25006), timeouts (25P03, 25P04, 57014), out of resources (53), lock not granted (55P03), shutting
 * down, starting or gone (57P), system errors (58), damage (XX001, XX002).
 */
const TROUBLE =
  /^(?:08|28|3D|53|57P|58)|^(?:25006|25P03|25P04|40001|40P01|55P03|57014|XX001|XX002)$/

/** Any number that nothing else in the same database uses as an advisory lock. */
const MIGRATION_LOCK = 7_311_640_018

export function postgres(url: Secret, maxConnections = DEFAULT_MAX_CONNECTIONS): Database {
  const pool = openPool({
    connectionString: url.reveal(),
    max: maxConnections,
    fallback_application_name: 'latchkey',
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8 ? safeInteger : types.getTypeParser(oid, format),
    },
    onConnect: prepareConnection,
  })

  return {
    name: describe(url),
    dialect: new PostgresDialect({ pool }),
    sequenceKey: 'bigint generated always as identity primary key',
    sortedText: 'text collate "C"',
    lists: postgresLists,
    whole: postgresWhole(LIMITS),
    async lockMigrations(transaction) {
      // A migration may take long, and so may the wait for another instance that migrates.
      await sql`
        select set_config(name, '0', true) from pg_settings where name = any(${LIMITS})
      `.execute(transaction)
      await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(transaction)
    },
    async readTime(db) {
      const { rows } = await sql<{ time: number }>`
        select (extract(epoch from clock_timestamp()) * 1000)::bigint as time
      `.execute(db)
      return rows[0] && instant(rows[0].time)
    },
    isTrouble,
    giveUpOnSilence: () => pool.giveUpOnSilence(),
    withoutContent(error) {
      // Both quote values: "Failing row contains (…)".
      if (error instanceof DatabaseError) {
        error.detail = undefined
        error.where = undefined
      }
    },
  }
}

async function prepareConnection(client: ClientBase): Promise<void> {
  // A connection can die between two statements of a transaction, when nothing awaits it: the next statement fails.
  // Without a listener, the error would end the process.
  client.on('error', () => {})
  await client.query(
    `select set_config(name, $1::jsonb ->> name, false) from pg_settings where name = any($2)`,
    [JSON.stringify(LIMITS_MS), LIMITS],
  )
}

/** An error without an SQLSTATE comes from the connection, or is a bug in this program. */
function isTrouble(error: unknown): boolean {
  if (error instanceof DatabaseError) return TROUBLE.test(error.code ?? '')
  const isMistake = error instanceof TypeError || error instanceof RangeError
  return error instanceof Error && !isMistake && error.name !== 'AbortedTransactionError'
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint of the database is too large')
  return value
}

function describe(url: Secret): string {
  const parsed = URL.parse(url.reveal())
  return parsed === null ? 'of the given URL' : `${parsed.host}${parsed.pathname}`
}
