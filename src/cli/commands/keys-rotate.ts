/** `latchkey keys rotate`: makes the next signing key in the database; running instances take it up by themselves. */
import { join, resolve } from 'node:path'
import { exists, RefusedStart } from '../../app/private-files.ts'
import { rotateSigningKey } from '../../app/rotate-signing-key.ts'
import { toRfc3339 } from '../../base/instant.ts'
import { CONFIG_FILE, loadConfig } from '../../config/load.ts'
import type { HomeOptions } from '../home-options.ts'
import { EXIT, type ExitCode, type Io } from '../io.ts'

export async function rotateKeys(
  { home, file, environment }: HomeOptions,
  io: Io,
): Promise<ExitCode> {
  if (file === undefined && !(await exists(join(home, CONFIG_FILE)))) {
    throw new RefusedStart(`nothing is installed in ${resolve(home)} yet; run: latchkey init`)
  }
  const { config } = await loadConfig({
    home,
    environment,
    ...(file === undefined ? {} : { file }),
  })
  const key = await rotateSigningKey(config)
  io.out(
    `The signing key ${key.kid} (${key.algorithm}) is published and signs from ${toRfc3339(key.activeFrom)}.`,
  )
  return EXIT.ok
}
