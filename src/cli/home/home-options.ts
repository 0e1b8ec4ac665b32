/** The options that every command about an installation takes, and the environment behind them. */
import type { Environment } from '../../config/environment.ts'
import { DEFAULT_HOME, readEnvironment } from '../../config/environment.ts'

export interface HomeOptions {
  readonly home: string
  readonly file: string | undefined
  readonly environment: Environment
}

/** Home: `--home`, else LATCHKEY_HOME, else `./latchkey-data`. */
export function readHomeOptions(values: {
  readonly home?: string | undefined
  readonly config?: string | undefined
}): HomeOptions {
  const environment = readEnvironment()
  const home = values.home ?? environment.home ?? DEFAULT_HOME
  return { home, file: values.config, environment }
}
