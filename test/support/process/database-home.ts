/** A home whose service uses a given database, and has its health checks on the first listener. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parse, stringify } from 'yaml'
import { defaultConfigFile } from '../../../src/config/default-file.ts'
import { temporaryFolder } from '../service.ts'

const APIS = ['edge-client', 'edge-management', 'health-checks']

export async function homeWithDatabase(t: TestContext, db?: string): Promise<string> {
  const home = join(await temporaryFolder(t), 'home')
  await mkdir(home, { mode: 0o700 })
  const file = parse(defaultConfigFile({ address: 'localhost:0' }))
  file.web[0].apis = APIS.map((binding) => ({ binding }))
  if (db !== undefined) file.db = db
  await writeFile(join(home, 'controller.yml'), stringify(file), { mode: 0o600 })
  return home
}
