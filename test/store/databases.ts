/**
 * The databases that every store test runs on. `create` makes one with all tables and no rows, `createEmpty` one without
 * tables, for tests of the first opening. They are closed and removed when the test ends.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { Secret } from '../../src/base/secrets/secret.ts'
import type { Store } from '../../src/domain/stores.ts'
import { openStore, type StoreAddress } from '../../src/store/open.ts'
import { copyMigratedFile, migratedDatabase } from '../support/stores/migrated-database.ts'
import { execute, startPostgres } from '../support/stores/postgres.ts'

export interface TestDatabase {
  readonly address: StoreAddress
  /** Opens a store on it; closed with the test. */
  open(): Promise<Store>
}

/** A database that more than one can use at a time. */
export interface SharedDatabase extends TestDatabase {
  /** Speaks to the database past the store. */
  query(statement: string): Promise<Record<string, unknown>[]>
}

interface Kind<D extends TestDatabase> {
  readonly name: string
  create(t: TestContext): Promise<D>
  createEmpty(t: TestContext): Promise<D>
}

const inMemory: Kind<TestDatabase> = {
  name: 'SQLite in memory',
  create: (t) => inMemory.createEmpty(t),
  createEmpty: async (t) => testDatabase(t, { kind: 'sqlite', path: ':memory:' }),
}

export const sqliteOnDisk: Kind<SharedDatabase & { readonly path: string }> = {
  name: 'SQLite on disk',
  async create(t) {
    const database = await sqliteOnDisk.createEmpty(t)
    await copyMigratedFile(database.path)
    return database
  },
  async createEmpty(t) {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-store-'))
    const path = join(folder, 'latchkey.db')
    return {
      ...testDatabase(t, { kind: 'sqlite', path }, () => rm(folder, { recursive: true })),
      path,
      async query(statement) {
        const database = new DatabaseSync(path)
        try {
          return database.prepare(statement).all()
        } finally {
          database.close()
        }
      },
    }
  },
}

export const postgresql: Kind<SharedDatabase & { readonly url: string }> = {
  name: 'PostgreSQL',
  create: async (t) => onPostgres(t, await migratedDatabase()),
  createEmpty: async (t) => onPostgres(t, await (await startPostgres()).freshDatabase()),
}

export const SHARED: readonly Kind<SharedDatabase>[] = [sqliteOnDisk, postgresql]
export const ALL: readonly Kind<TestDatabase>[] = [inMemory, ...SHARED]

/** Two connections to one database; a database in memory has only the one. */
export async function openTwo(database: TestDatabase): Promise<readonly [Store, Store]> {
  const store = await database.open()
  const { address } = database
  const isAlone = address.kind === 'sqlite' && address.path === ':memory:'
  return [store, isAlone ? store : await database.open()]
}

function onPostgres(t: TestContext, url: string): SharedDatabase & { readonly url: string } {
  return {
    ...testDatabase(t, { kind: 'postgres', url: new Secret(url) }),
    url,
    query: (statement) => execute(url, statement),
  }
}

function testDatabase(
  t: TestContext,
  address: StoreAddress,
  remove: () => Promise<void> = async () => {},
): TestDatabase {
  const open: Store[] = []
  t.after(async () => {
    await Promise.all(open.map((store) => store.close()))
    await remove()
  })
  return {
    address,
    async open() {
      const store = await openStore(address)
      open.push(store)
      return store
    },
  }
}
