/**
 * Homes whose installation is on PostgreSQL. Each process makes one, and tests get copies: of its files, and of its
 * database. To install anew takes several times as long, in the process that does it and in PostgreSQL. D-301.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changeConfig, installAnewIn } from '../process/child-home.ts'
import { type Postgres, startPostgres } from '../stores/postgres.ts'
import { copyFolder, copyInstalledHome, startOnce } from './installed-home.ts'

interface Original {
  readonly home: string
  readonly url: string
}

/** By server: a server that was stopped has taken its databases with it. */
const originals = new WeakMap<Postgres, Promise<Original>>()

/**
 * Replaces the installation of a home, in which nothing runs, by one on PostgreSQL. The rest of its configuration stays.
 * Returns the URL of the database, which no other home has.
 */
export async function moveToPostgres(home: string): Promise<string> {
  const postgres = await startPostgres()
  const making = originals.get(postgres) ?? make(postgres)
  originals.set(postgres, making)
  const original = await making
  const url = await postgres.freshDatabase(original.url)
  copyFolder(join(original.home, 'pki'), join(home, 'pki'))
  copyFileSync(join(original.home, 'secret'), join(home, 'secret'))
  rmSync(join(home, 'latchkey.db'))
  await changeConfig(home, (config) => {
    config.db = url
  })
  return url
}

async function make(postgres: Postgres): Promise<Original> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-prepared-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  const url = await postgres.freshDatabase()
  await copyInstalledHome(home)
  await installAnewIn(home, url)
  await startOnce(home)
  return { home, url }
}
