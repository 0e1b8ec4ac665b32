/** Homes on either database, and the commands that copy what is in them: backup, restore and migrate-store. */
import assert from 'node:assert/strict'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startOnce } from '../homes/installed-home.ts'
import { moveToPostgres } from '../homes/postgres-home.ts'
import { type Service, startService, temporaryFolder } from '../service.ts'
import { startPostgres } from '../stores/postgres.ts'
import { changeConfig, fixPort, missingHome } from './child-home.ts'
import { type ChildService, startChild } from './child-service.ts'
import { preparedHome } from './prepared-home.ts'
import type { Finished } from './program.ts'
import { runLatchkey } from './run-command.ts'

export const environment = {
  LATCHKEY_ADDRESS: 'localhost:0',
  LATCHKEY_ADMIN_PASSWORD: 'correct horse battery',
}

/** Where a home has its database: undefined is the file in the home. */
export interface Place {
  readonly name: string
  database(): Promise<string | undefined>
}

export const PLACES: readonly Place[] = [
  { name: 'SQLite', database: async () => undefined },
  { name: 'PostgreSQL', database: async () => (await startPostgres()).freshDatabase() },
]

/** A running service that always listens at the same port: tokens are for an address. */
export async function startAt(t: TestContext, place: Place): Promise<ChildService> {
  const home = await homeAt(t, place)
  await fixPort(home)
  return startChild(t, { home })
}

/** The same in this process, which starts in a tenth of the time: for tests that look at what it answers alone. */
export async function serveAt(t: TestContext, place: Place): Promise<Service> {
  const home = await homeAt(t, place)
  await fixPort(home)
  return startService(t, { home })
}

/** An installed home in which nothing runs. */
export async function homeAt(t: TestContext, place: Place): Promise<string> {
  const home = await preparedHome(t)
  if (place.name === 'PostgreSQL') await moveToPostgres(home)
  return home
}

export function useDatabase(home: string, db: string): Promise<void> {
  return changeConfig(home, (config) => {
    config.db = db
  })
}

/** A home of another installation than the prepared one, in which nothing runs. */
export async function makeHome(t: TestContext): Promise<string> {
  const home = await missingHome(t)
  await startOnce(home)
  return home
}

/** The configuration and the secret of a home in another folder, and nothing else: as after the loss of a machine. */
export async function emptyHome(t: TestContext, home: string, place?: Place): Promise<string> {
  const other = join(await temporaryFolder(t), 'other')
  await mkdir(other, { mode: 0o700 })
  for (const name of ['controller.yml', 'secret'])
    await copyFile(join(home, name), join(other, name))
  if (place !== undefined) await useDatabase(other, (await place.database()) ?? 'latchkey.db')
  return other
}

/** A backup of the home, which must succeed. */
export async function backUp(
  t: TestContext,
  home: string,
  more: readonly string[] = [],
): Promise<string> {
  const path = join(await temporaryFolder(t), 'backup.lkb')
  const made = await runLatchkey(t, ['backup', '--home', home, '--out', path, ...more])
  assert.equal(made.code, 0, made.stderr)
  return path
}

export function restore(
  t: TestContext,
  path: string,
  home: string,
  more: readonly string[] = [],
): Promise<Finished> {
  return runLatchkey(t, ['restore', path, '--home', home, ...more])
}
