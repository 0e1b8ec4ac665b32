/** Adds to a refusal to listen what the operator can do about it: D-337. */
import { join } from 'node:path'
import { RefusedStart } from '../../app/installation/private-files.ts'
import { UnusablePlace } from '../../app/listen-places.ts'
import type { Config } from '../../config/config.ts'
import { CONFIG_FILE } from '../../config/load.ts'

/** Any other error is returned as it is. */
export function withWaysOn(
  error: unknown,
  home: {
    readonly home: string
    readonly file: string | undefined
    readonly isNew: boolean
    /** Undefined if nothing was created. */
    readonly config?: Pick<Config, 'listeners'>
  },
): unknown {
  if (!(error instanceof UnusablePlace)) return error
  const { file = join(home.home, CONFIG_FILE) } = home
  const [first] = home.config?.listeners ?? []
  // Port 443 is for the administrator of the machine; 1280 is what we use ourselves.
  const port = error.port < 1024 ? 1280 : Math.min(error.port + 1, 65_535)
  const host = first?.bindPoints[0].address.host ?? 'localhost'
  const name = host.includes(':') ? `[${host}]` : host
  const inFile = `web[].bindPoints in ${file}`
  // The options concern the first listener.
  const isFirst = error.listener === undefined || error.listener === first?.name
  if (!isFirst) {
    return new RefusedStart(`${error.message}\nTo use another port, change ${inFile}.`, {
      cause: error,
    })
  }
  const isForGood = home.config === undefined
  const lines = [
    error.message,
    isForGood ? 'Nothing was created. To use another port:' : 'To use another port:',
    `  --port ${port}   (latchkey run --port ${port}, or npm start -- --port ${port})`,
    `  LATCHKEY_ADDRESS=${name}:${port}   (an environment variable)`,
    isForGood
      ? `The first start stores the address in ${file}, where you can change it later.`
      : `Both are for one run. To change it for good, edit ${inFile}.`,
  ]
  return new RefusedStart(lines.join('\n'), { cause: error })
}
