/** Reads and changes the configuration file of a home, for tests that start the service as a process of its own. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { freePort } from '../ports.ts'

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

/** The home gives its installation up and is made anew by the next start, in another database (D-252). */
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
