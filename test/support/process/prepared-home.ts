/** A copy of an installed home, for tests that start the service as a process of its own. */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { copyInstalledHome } from '../homes/installed-home.ts'
import { temporaryFolder } from '../service.ts'

/** A copy, in which nothing runs. It listens at any free port, on SQLite. */
export async function preparedHome(t: TestContext): Promise<string> {
  const home = join(await temporaryFolder(t), 'home')
  await copyInstalledHome(home)
  return home
}
