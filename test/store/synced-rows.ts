/** A SQLite database with one table of numbers, whose syncs the test sees, delays or fails. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { Kysely, sql } from 'kysely'
import { guarded } from '../../src/store/dialects/guarded.ts'
import type { SyncFile } from '../../src/store/dialects/sqlite/wal-sync.ts'
import { sqlite } from '../../src/store/dialects/sqlite.ts'
import { sharedTransactions } from '../../src/store/transactions/shared-commit.ts'
import { eventually } from '../support/eventually.ts'
import { sqliteOnDisk } from './databases.ts'

export interface Rows {
  readonly rows: { readonly n: number }
}

export async function openRows(t: TestContext) {
  const { path } = await sqliteOnDisk.createEmpty(t)
  const { db, onSync } = openSynced(t, path)
  await sql`create table rows (n integer primary key)`.execute(db)
  const shared = sharedTransactions(db as never)
  return {
    db,
    path,
    /** In a transaction that is shared with others (D-373). */
    inShared: <T>(work: (tx: Kysely<Rows>) => Promise<T>) => shared.run((tx) => work(tx as never)),
    /** The same for work that waits for nothing (D-466). */
    inOneTurn: <T>(work: (tx: Kysely<Rows>) => T) => shared.runPrompt((tx) => work(tx as never)),
    onSync,
    insert: async (n: number) => {
      await db.insertInto('rows').values({ n }).execute()
    },
    /** As another process sees them. */
    committed: () => rowsIn(path),
  }
}

/** A connection of its own, as another process has one. */
export function openSynced(t: TestContext, path: string) {
  let syncFile: SyncFile = async () => {}
  const db = new Kysely<Rows>({
    dialect: guarded(sqlite(path, (descriptor) => syncFile(descriptor))),
  })
  t.after(() => db.destroy())
  return {
    db,
    onSync: (replacement: SyncFile) => {
      syncFile = replacement
    },
  }
}

export function rowsIn(path: string): number[] {
  const database = new DatabaseSync(path)
  try {
    assert.equal(database.prepare('pragma quick_check').get()?.['quick_check'], 'ok')
    return database
      .prepare('select n from rows order by n')
      .all()
      .map(({ n }) => Number(n))
  } finally {
    database.close()
  }
}

/** A sync that ends when the test says so. */
export function heldSyncs(onSync: (syncFile: SyncFile) => void) {
  const held: PromiseWithResolvers<void>[] = []
  onSync(() => {
    const sync = Promise.withResolvers<void>()
    held.push(sync)
    return sync.promise
  })
  const nth = (n: number) => eventually(() => held[n - 1], `sync ${n}`)
  return { held, nth }
}
