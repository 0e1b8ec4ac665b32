/**
 * Databases that have all tables, and no rows yet. Each process runs the migrations once and tests get copies: on
 * PostgreSQL the migrations take several times as long as a copy, and longer than most tests. D-301.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '../../../src/base/secrets/secret.ts'
import { openMigrated, type StoreAddress } from '../../../src/store/open.ts'
import { type Postgres, startPostgres } from './postgres.ts'

/** By server: a server that was stopped has taken its databases with it. */
const onPostgres = new WeakMap<Postgres, Promise<string>>()
let onDisk: Promise<string> | undefined

/** The URL of a database on PostgreSQL that nobody else has. */
export async function migratedDatabase(): Promise<string> {
  const postgres = await startPostgres()
  const original = onPostgres.get(postgres) ?? makeOnPostgres(postgres)
  onPostgres.set(postgres, original)
  return postgres.freshDatabase(await original)
}

/** Writes a database of SQLite to this path. */
export async function copyMigratedFile(path: string): Promise<void> {
  onDisk ??= makeOnDisk()
  copyFileSync(await onDisk, path)
}

async function makeOnPostgres(postgres: Postgres): Promise<string> {
  const url = await postgres.freshDatabase()
  await migrateOnce({ kind: 'postgres', url: new Secret(url) })
  return url
}

async function makeOnDisk(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-migrated-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'latchkey.db')
  await migrateOnce({ kind: 'sqlite', path })
  return path
}

async function migrateOnce(address: StoreAddress): Promise<void> {
  const { db } = await openMigrated(address)
  await db.destroy()
}
