/**
 * PostgreSQL through a pool. TLS is what the URL says (`sslmode`, `sslrootcert`).
 *
 * No transaction outlives 30 seconds, so that one that lost its owner blocks nobody, and whoever follows a
 * table by its sequence numbers knows how late a lower number can appear.
 */
import { PostgresDialect, sql } from 'kysely'
import { type ClientBase, DatabaseError, Pool, types } from 'pg'
import type { Secret } from '../../base/secrets/secret.ts'
import { instant } from '../../base/time/instant.ts'
import type { Database } from './database.ts'
import { postgresLists } from './postgres-lists.ts'
import { postgresWhole } from './postgres-whole.ts'

const TRANSACTION_LIMIT_MS = 30_000
const CONNECT_LIMIT_MS = 10_000
const DEFAULT_MAX_CONNECTIONS = 10

/** `transaction_timeout` came with PostgreSQL 17; before it, the other two leave the fewest gaps. */
const LIMITS = ['transaction_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout']

/** Any number that nothing else in the same database uses as an advisory lock. */
const MIGRATION_LOCK = 7_311_640_018

export function postgres(url: Secret, maxConnections = DEFAULT_MAX_CONNECTIONS): Database {
  const pool = new Pool({
    connectionString: url.reveal(),
    max: maxConnections,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    keepAlive: true,
    fallback_application_name: 'latchkey',
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8 ? safeInteger : types.getTypeParser(oid, format),
    },
    onConnect: prepareConnection,
  })
  // An idle connection that dies is replaced; the next query tells if that is not possible either.
  pool.on('error', () => {})

  return {
    name: describe(url),
    dialect: new PostgresDialect({ pool }),
    sequenceKey: 'bigint generated always as identity primary key',
    sortedText: 'text collate "C"',
    lists: postgresLists,
    whole: postgresWhole(LIMITS),
    async lockMigrations(transaction) {
      // A migration may take its time, and so may the wait for another instance that migrates.
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
  // A connection can die between two statements of a transaction, when nobody waits for it: the next
  // statement fails. Without a listener the process would.
  client.on('error', () => {})
  await client.query('select set_config(name, $1, false) from pg_settings where name = any($2)', [
    String(TRANSACTION_LIMIT_MS),
    LIMITS,
  ])
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
