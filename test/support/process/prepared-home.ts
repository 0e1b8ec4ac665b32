/** A copy of an installed home, for tests that start the service as a process of its own. */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { copyInstalledHome } from '../homes/installed-home.ts'
import { moveToPostgres } from '../homes/postgres-home.ts'
import { temporaryFolder } from '../service.ts'
import { APIS, changeConfig } from './child-home.ts'

/** A copy, in which nothing runs. It listens at any free port, on SQLite. */
export async function preparedHome(t: TestContext): Promise<string> {
  const home = join(await temporaryFolder(t), 'home')
  await copyInstalledHome(home)
  return home
}

/** The same on the given database, and with the health checks on its listener. */
export async function preparedHomeOn(
  t: TestContext,
  database: 'SQLite' | 'PostgreSQL',
): Promise<string> {
  const home = await preparedHome(t)
  await changeConfig(home, (config) => {
    config.web[0].apis = APIS.map((binding) => ({ binding }))
  })
  if (database === 'PostgreSQL') await moveToPostgres(home)
  return home
}
