/**
 * Speaks to the database of a running service past the service, as an administrator with a database client would:
 * to look at what is stored, and to change what no call can change yet.
 */
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import type { Service } from '../service.ts'

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
  const client = new Client({ connectionString: config.db.url.reveal() })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
