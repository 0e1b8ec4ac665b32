/** Reads and changes the configuration file of a home, for tests that start the service as a process of its own. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

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

/** From now on the home listens at this port: tokens are for an address, and a start at a free port has another. */
export function fixPort(home: string, port: number): Promise<void> {
  return changeConfig(home, (config) => {
    for (const point of config.web[0].bindPoints) {
      point.interface = point.interface.replace(/:0$/, `:${port}`)
      point.address = point.address.replace(/:0$/, `:${port}`)
    }
  })
}
