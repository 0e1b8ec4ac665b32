/**
 * Moves everything from one database into another: D-160. The source is locked, copied, compared and marked. So no
 * write to it is missed, and no instance starts on it afterwards.
 */
import type { Stores } from '../../domain/stores.ts'
import { StoreUnavailable } from '../../errors/store-unavailable.ts'
import type { Row } from '../dialects/whole-facts.ts'
import { openDatabase, type StoreAddress, unavailable } from '../open.ts'
import { refuseOtherShape, type WholeDatabase, wholeOn } from './read-whole.ts'
import { NUMBERED, TABLES, type TableName } from './table-order.ts'
import { type Finish, isOfDriver, type RowsOfTable, writeWhole } from './write-whole.ts'

export interface Moved {
  readonly from: string
  readonly to: string
  readonly rows: number
}

/** Throws StoreUnavailable and OccupiedDatabase, without having changed anything. */
export async function moveWhole(
  from: StoreAddress,
  to: StoreAddress,
  deps: {
    readonly onRows: (done: number, total: number) => void
    /** Runs in the target, before the data becomes visible. */
    readonly record: (tx: Stores, moved: Moved) => Promise<void>
  },
): Promise<Moved> {
  const { db, database } = await openDatabase(one(from))
  const target = await nameOf(to)
  try {
    await refuseOtherShape(db, database)
    const others = await database.whole.countOthers(db)
    if (others > 0) {
      const who = `another process uses the database ${database.name}`
      throw new StoreUnavailable(`${who}; stop every instance, and whatever else is connected`)
    }
    return await db.transaction().execute(async (tx) => {
      // An instance that starts now waits, and then reads that the database was moved.
      await database.lockMigrations(tx)
      await database.whole.lockTables(tx, TABLES)
      const found = await tx.selectFrom('installation').select('moved_to').executeTakeFirst()
      if (found === undefined) {
        throw new StoreUnavailable(`nothing is installed in the database ${database.name}`)
      }
      if (found.moved_to !== null) {
        throw new StoreUnavailable(`the database ${database.name} was moved to ${found.moved_to}`)
      }
      const source = wholeOn(tx, database)
      const counts = await countAll(source)
      const total = sum(counts)
      const moved = { from: database.name, to: target, rows: total }
      const numbers = new Map<TableName, number>()
      for (const numbered of NUMBERED) {
        numbers.set(numbered.table, await database.whole.lastNumber(tx, numbered))
      }
      const content = () => everyRow(source, (done) => deps.onRows(done, total))
      const finish: Finish<void> = async (stores, { written }) => {
        refuseDifference(counts, await countAll(written))
        await deps.record(stores, moved)
      }
      await writeWhole(to, content, 'refuse', finish, numbers)
      await tx.updateTable('installation').set({ moved_to: target }).execute()
      return moved
    })
  } catch (error) {
    throw isOfDriver(error) ? unavailable(database, error) : error
  } finally {
    await db.destroy()
  }
}

/** One connection is enough, and a second one of ours would be counted as another process. */
function one(address: StoreAddress): StoreAddress {
  return address.kind === 'postgres' ? { ...address, maxConnections: 1 } : address
}

async function nameOf(address: StoreAddress): Promise<string> {
  const { db, database } = await openDatabase(address)
  await db.destroy()
  return database.name
}

type Counts = ReadonlyMap<TableName, number>

async function countAll(whole: WholeDatabase): Promise<Counts> {
  const counts = new Map<TableName, number>()
  for (const table of TABLES) counts.set(table, await whole.count(table))
  return counts
}

function sum(counts: Counts): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}

async function* everyRow(
  source: WholeDatabase,
  onRows: (done: number) => void,
): AsyncIterable<RowsOfTable> {
  let done = 0
  for (const table of TABLES) {
    for await (const rows of source.rows(table) as AsyncIterable<readonly Row[]>) {
      yield { table, rows }
      done += rows.length
      onRows(done)
    }
  }
}

function refuseDifference(expected: Counts, found: Counts): void {
  for (const [table, count] of expected) {
    if (found.get(table) !== count) {
      throw new Error(`${table} has ${found.get(table)} rows at the target and not ${count}`)
    }
  }
}
