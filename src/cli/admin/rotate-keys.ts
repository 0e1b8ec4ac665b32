/**
 * `latchkey keys rotate`, and where it runs (D-168): in the database of a home if one is named or is in the current
 * folder, else over the API. `--context` always uses the API.
 */
import { join } from 'node:path'
import { exists } from '../../app/installation/private-files.ts'
import { DEFAULT_HOME, readEnvironment } from '../../config/environment.ts'
import { CONFIG_FILE } from '../../config/load.ts'
import { rotateKeys } from '../commands/keys-rotate.ts'
import { readHomeOptions } from '../home/home-options.ts'
import { type ExitCode, type Io, Misuse } from '../terminal/io.ts'
import { rotateKeysByApi } from './keys.ts'
import { secondsOf, type WaitValues } from './sessions/confirmations.ts'

export async function rotateKeysSomewhere(
  values: {
    readonly home?: string
    readonly config?: string
    readonly context?: string
    readonly 'revoke-now'?: boolean
  } & WaitValues,
  io: Io,
): Promise<ExitCode> {
  const { home, config, context } = values
  const seconds = secondsOf(values)
  if (seconds !== undefined && values['revoke-now'] !== true) {
    throw new Misuse('--wait needs --revoke-now: without it no key is withdrawn')
  }
  const isHomeNamed = (home ?? config ?? readEnvironment(io.variables).home) !== undefined
  if (context !== undefined && (home ?? config) !== undefined) {
    throw new Misuse('--context is for the API, --home and --config for a home on this machine')
  }
  if (
    context === undefined &&
    (isHomeNamed || (await exists(io.resolve(join(DEFAULT_HOME, CONFIG_FILE)))))
  ) {
    const revokes = values['revoke-now'] === true ? 'older-keys' : 'nothing'
    return rotateKeys(readHomeOptions(values, io), io, revokes, seconds)
  }
  return rotateKeysByApi(values, io)
}
