import { eventually } from '../support/eventually.ts'
import type { postgresql, TestDatabase } from './databases.ts'

/** Resolves when a statement waits for a lock. SQLite waits before it reads anything. */
export async function waitingIn(database: TestDatabase): Promise<void> {
  if (!('url' in database)) return
  const { query } = database as Awaited<ReturnType<typeof postgresql.create>>
  await eventually(async () => {
    const [row] = await query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return row
  }, 'a statement that waits for a lock')
}
