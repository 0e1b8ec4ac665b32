/** The service of the demo: the composition of `latchkey run`, in its own home, with local names. */
import { readFile } from 'node:fs/promises'
import { homeFiles, openHome } from '../app/installation/home.ts'
import { type Instance, startInstance } from '../app/instance.ts'
import { formatHostPort } from '../base/host-port.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import { Secret } from '../base/secrets/secret.ts'
import type { Clock } from '../base/time/clock.ts'

/** Loopback: `config/default-file.ts` then listens on this machine only. */
export const HOST = 'localhost'

/** `port` 0 means a free one. The user's environment variables are ignored. */
export async function startService(
  { home, port, password }: { home: string; port: number; password: string },
  deps: { readonly clock: Clock; readonly random: Random; readonly log: Log },
): Promise<Instance> {
  const adminPassword = new Secret(password)
  const address = formatHostPort({ host: HOST, port })
  const { config } = await openHome({
    home,
    file: undefined,
    // A taken port is reported when the service listens.
    purpose: 'prepare',
    environment: {
      home,
      address,
      adminPassword,
      variable: () => undefined,
      forWorkers: () => ({}),
      conceal: () => undefined,
      unknownVariables: () => [],
    },
  })
  // The password is already known, so it need not be printed.
  return startInstance({ config, adminPassword, ...deps, handOver: async () => undefined })
}

/** The CA to trust, in PEM. */
export const readCa = (home: string): Promise<string> => readFile(homeFiles(home).ca, 'utf8')
