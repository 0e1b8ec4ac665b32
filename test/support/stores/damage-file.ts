/** Overwrites the first page of a table, as a faulty disk might. */
import { open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'

export async function damageTable(path: string, table: string): Promise<void> {
  const database = new DatabaseSync(path)
  database.exec('pragma wal_checkpoint(truncate)')
  const row = database.prepare('select rootpage from sqlite_schema where name = ?').get(table)
  const size = Number(database.prepare('pragma page_size').get()?.['page_size'])
  database.close()
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(size, 0x5a), 0, size, (Number(row?.['rootpage']) - 1) * size)
  await file.close()
}
