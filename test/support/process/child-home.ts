/** Reads and changes the configuration file of a home, for tests that start the service as a process of its own. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parse, stringify } from 'yaml'
import { defaultConfigFile } from '../../../src/config/default-file.ts'
import { useWorkers } from '../homes/installed-home.ts'
import { freePort } from '../ports.ts'
import { temporaryFolder } from '../service.ts'

// biome-ignore lint/suspicious/noExplicitAny: a configuration may have any shape
export async function readConfig(home: string): Promise<any> {
  return parse(await readFile(join(home, 'controller.yml'), 'utf8'))
}

/** The file as it is, changed by `change`. Its comments are lost. */
export async function changeConfig(
  home: string,
  // biome-ignore lint/suspicious/noExplicitAny: a configuration may have any shape
  change: (config: any) => void,
): Promise<void> {
  const config = await readConfig(home)
  change(config)
  await writeFile(join(home, 'controller.yml'), stringify(config))
}

export { useWorkers }

/** The home drops its installation, and the next start creates a new one in another database (D-252). */
export async function installAnewIn(home: string, db: string): Promise<void> {
  await changeConfig(home, (config) => {
    config.db = db
  })
  await rm(join(home, 'pki', 'ca.pem'))
}

/** From now on the home listens at one port, which it answers: tokens are for an address. */
export async function fixPort(home: string): Promise<number> {
  const port = await freePort()
  await changeConfig(home, (config) => {
    for (const point of config.web[0].bindPoints) {
      point.interface = point.interface.replace(/:0$/, `:${port}`)
      point.address = point.address.replace(/:0$/, `:${port}`)
    }
  })
  return port
}

/** Of the first listener, where tests ask for the health too. */
export const APIS = ['edge-client', 'edge-management', 'health-checks']

/** Where the first start makes a home. */
export async function missingHome(t: TestContext): Promise<string> {
  return join(await temporaryFolder(t), 'home')
}

/** A new home whose service uses the given database, and has its health checks on the first listener. */
export async function homeWithDatabase(t: TestContext, db?: string): Promise<string> {
  const home = await missingHome(t)
  await mkdir(home, { mode: 0o700 })
  const file = parse(defaultConfigFile({ address: 'localhost:0' }))
  file.workers = 1
  file.web[0].apis = APIS.map((binding) => ({ binding }))
  if (db !== undefined) file.db = db
  await writeFile(join(home, 'controller.yml'), stringify(file), { mode: 0o600 })
  return home
}
