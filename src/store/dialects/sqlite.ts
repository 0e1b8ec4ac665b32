/**
 * SQLite, as built into Node: one connection, one file that several processes may share.
 *
 * An acknowledged commit survives a crash and a power cut (`wal-sync.ts`). Transactions begin as writers, because one
 * that becomes a writer later fails immediately if another process has written since.
 */
import {
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { StoreUnavailable } from '../../errors/store-unavailable.ts'
import type { Database } from './database.ts'
import { beginSession } from './sqlite/begin-session.ts'
import { SqliteDriver } from './sqlite/driver.ts'
import { explainFault, resultCode, SQLITE_BUSY, SQLITE_NOTADB } from './sqlite/faults.ts'
import { sqliteLists } from './sqlite/lists.ts'
import { SqliteNotices } from './sqlite/notices.ts'
import { spendRefreshToken } from './sqlite/spend-refresh-token.ts'
import { SqliteVersion } from './sqlite/version.ts'
import type { SyncFile } from './sqlite/wal-sync.ts'
import { sqliteWhole } from './sqlite/whole.ts'

/** Errors of a database that cannot be used now: D-250. */
const TROUBLE = {
  PERM: 3,
  BUSY: SQLITE_BUSY,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  NOTADB: SQLITE_NOTADB,
} as const
const TROUBLES: ReadonlySet<number | undefined> = new Set(Object.values(TROUBLE))
/** An extended result code. What a row refers to was deleted since it was read: a retry finds out (D-284). */
const SQLITE_CONSTRAINT_FOREIGNKEY = 787

/** The driver has the one connection used in turn. */
class Adapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

const ROW_LOCKS: ReadonlySet<string | undefined> = new Set([
  'ForUpdate',
  'ForNoKeyUpdate',
  'ForKeyShare',
  'SkipLocked',
])

/** Row locks are left out: a transaction is the only writer from its beginning. */
class QueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (!ROW_LOCKS.has(node.modifier)) super.visitSelectModifier(node)
  }
}

function isTrouble(error: unknown): boolean {
  if (error instanceof StoreUnavailable || TROUBLES.has(resultCode(error))) return true
  return (error as { errcode?: unknown } | undefined)?.errcode === SQLITE_CONSTRAINT_FOREIGNKEY
}

/** `syncFile` replaces the system's, for tests. */
export function sqlite(path: string, syncFile?: SyncFile): Database {
  const notices = new SqliteNotices(path)
  return {
    name: path,
    dialect: {
      createAdapter: () => new Adapter(),
      createDriver: () => new SqliteDriver(path, syncFile),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new QueryCompiler(),
    },
    sequenceKey: 'integer primary key autoincrement',
    sortedText: 'text',
    passingTable: 'table',
    hasOneWriter: true,
    lists: sqliteLists,
    whole: sqliteWhole,
    // A transaction already begins as the only writer.
    lockMigrations: async () => {},
    readTime: async () => undefined,
    isTrouble,
    explain: (error) => explainFault(path, error),
    completeSchema: async () => {},
    // SQLite has no server that could stop responding, or be exchanged.
    beginService: async () => {},
    // Only the connection of a database in memory can read it.
    ...(path === ':memory:'
      ? {}
      : { openVersion: () => new SqliteVersion(path, notices), changes: notices }),
    spendRefreshToken: { inOneTurn: spendRefreshToken },
    beginSession: { inOneTurn: beginSession },
    // SQLite names columns in its errors, never values.
    withoutContent: () => {},
  }
}
