/**
 * How an instance learns at once that another one has changed what it has a copy of: triggers send a notice with the
 * commit, and a connection of its own listens (D-298). A notice only says "look now"; nothing depends on its arrival,
 * because readers also look by themselves.
 */
import { type QueryExecutorProvider, sql } from 'kysely'
import { type Duration, seconds } from '../../../base/time/duration.ts'
import { ASIDE_LIMITS } from './limits.ts'
import type { Link } from './link.ts'
import type { Route } from './route.ts'

const CHANNEL = 'latchkey_changes'
const TRIGGER = 'latchkey_notice'
/** How long to wait before the next attempt to listen. */
const RETRY: Duration = seconds(1)

/** What copies in memory are made of (D-34, D-129, D-135, D-141), and which statements change it. */
const WATCHED: readonly [table: string, event: string][] = [
  ['session_endings', 'insert'],
  ['rule_versions', 'update'],
  ['signing_keys', 'insert or delete'],
  ['authorities', 'insert or delete'],
  ['installation', 'update of secret_fingerprint, sealed_hashing_secret'],
]

/** Creates what is missing. Replacing a trigger would lock its table at every start. */
export async function createTriggers(transaction: QueryExecutorProvider): Promise<void> {
  const found = await sql<{ table: string }>`
    select tgrelid::regclass::text as table from pg_trigger where tgname = ${TRIGGER}
  `.execute(transaction)
  const present = new Set(found.rows.map(({ table }) => table))
  const missing = WATCHED.filter(([table]) => !present.has(table))
  if (missing.length === 0) return
  const statements = [
    `create or replace function ${TRIGGER}() returns trigger language plpgsql as $$
      begin perform pg_notify('${CHANNEL}', ''); return null; end $$`,
    ...missing.map(
      ([table, event]) =>
        `create trigger ${TRIGGER} after ${event} on ${table} for each statement execute function ${TRIGGER}()`,
    ),
  ]
  for (const statement of statements) await sql.raw(statement).execute(transaction)
}

/**
 * A text that differs if any transaction was committed since it was last read: the transactions that had ended when it
 * was read, and which server says so.
 */
export const MARK = `select pg_current_snapshot()::text || ' ' || extract(epoch from pg_postmaster_start_time())
  as mark`

export interface Listener {
  /** The connection that listens; undefined while there is none. */
  readonly link: Link | undefined
  stop(): void
}

/** Calls `onNotice` for each notice, and when listening begins or ends. */
export function listen(route: Route, onNotice: () => void): Listener {
  let link: Link | undefined
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  async function connect(): Promise<void> {
    try {
      const opened = await route.open(ASIDE_LIMITS)
      opened.client.on('notification', onNotice)
      void opened.ended.then(lose)
      await opened.run({ text: `listen ${CHANNEL}` })
      if (isStopped) return void opened.end()
      link = opened
      onNotice()
    } catch {
      retry()
    }
  }

  function lose(): void {
    if (link !== undefined) retry()
    link = undefined
    onNotice()
  }

  function retry(): void {
    if (isStopped) return
    timer = setTimeout(connect, RETRY)
    timer.unref()
  }

  void connect()
  return {
    get link() {
      return link?.isUsable ? link : undefined
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
