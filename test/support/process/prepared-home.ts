/** A copy of an installed home, for tests that start the service as a process of its own. */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { copyInstalledHome } from '../homes/installed-home.ts'
import { temporaryFolder } from '../service.ts'
import { APIS, changeConfig, installAnewIn } from './child-home.ts'

/** A copy, in which nothing runs. It listens at any free port, on SQLite. */
export async function preparedHome(t: TestContext): Promise<string> {
  const home = join(await temporaryFolder(t), 'home')
  await copyInstalledHome(home)
  return home
}

/** The same with the given database, and with the health checks on its listener. */
export async function preparedHomeWith(t: TestContext, db?: string): Promise<string> {
  const home = await preparedHome(t)
  await changeConfig(home, (config) => {
    config.web[0].apis = APIS.map((binding) => ({ binding }))
  })
  if (db !== undefined) await installAnewIn(home, db)
  return home
}
