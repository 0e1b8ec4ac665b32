import { eventually } from '../support/eventually.ts'
import type { SharedDatabase, TestDatabase } from './databases.ts'

const WAITING = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

/** Resolves when a statement waits for a lock. SQLite waits before it reads anything. */
export async function waitingIn(database: TestDatabase): Promise<void> {
  if (!('url' in database)) return
  const { query } = database as TestDatabase as SharedDatabase
  await eventually(async () => (await query(WAITING))[0], 'a statement that waits for a lock')
}

/** Resolves when the work on PostgreSQL is done, or waits for a lock, as `others` statements do already. */
export async function asFarAsPossible(
  { query }: SharedDatabase,
  work: Promise<unknown>,
  others = 0,
): Promise<void> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  void work.then(done, done)
  await eventually(
    async () => (isDone || (await query(WAITING)).length > others ? true : undefined),
    'the work',
  )
}
