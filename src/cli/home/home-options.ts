/** The options of every command about an installation, with their defaults from the environment. */
import type { Environment } from '../../config/environment.ts'
import { DEFAULT_HOME, readEnvironment } from '../../config/environment.ts'
import type { Io } from '../terminal/io.ts'
import { readPort } from '../terminal/read-port.ts'

export interface HomeOptions {
  readonly home: string
  readonly file: string | undefined
  readonly environment: Environment
  /** `--port` of commands that have it. */
  readonly port?: number | undefined
}

/** The options as they were typed. */
export interface HomeValues {
  readonly home?: string | undefined
  readonly config?: string | undefined
  readonly port?: string | undefined
}

/** Home: `--home`, else LATCHKEY_HOME, else `./latchkey-data`. */
export function readHomeOptions(
  values: HomeValues,
  io: Pick<Io, 'variables' | 'resolve'>,
): HomeOptions {
  const environment = readEnvironment(io.variables)
  const home = io.resolve(values.home ?? environment.home ?? DEFAULT_HOME)
  const file = values.config === undefined ? undefined : io.resolve(values.config)
  return { home, file, environment, port: readPort(values.port) }
}
