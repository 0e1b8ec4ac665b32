/**
 * Speaks to the database of a running service past the service, as an administrator with a database client would:
 * to look at what is stored, and to change what no call can change yet.
 */
import { DatabaseSync } from 'node:sqlite'
import type { Service } from '../service.ts'
import { execute } from './postgres.ts'

export async function sql(
  { config }: Pick<Service, 'config'>,
  statement: string,
): Promise<Record<string, unknown>[]> {
  if (config.db.kind === 'sqlite') {
    const database = new DatabaseSync(config.db.path, { timeout: 5_000 })
    try {
      return database.prepare(statement).all()
    } finally {
      database.close()
    }
  }
  return execute(config.db.url.reveal(), statement)
}
