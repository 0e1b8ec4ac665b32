/** Listens on several interfaces at once, as one listener has them. */
import { formatHostPort, type HostPort } from '../base/host-port.ts'
import type { Log } from '../base/log.ts'

/** Returns the port in use: the configured one, or the free port that was chosen for all of them. */
export async function listenOnEach(
  interfaces: readonly HostPort[],
  listen: (at: HostPort) => Promise<number>,
  { name, log }: { readonly name: string; readonly log: Pick<Log, 'warn'> },
): Promise<number> {
  let port: number | undefined
  for (const wanted of interfaces) {
    const requested = wanted.port === 0 ? (port ?? 0) : wanted.port
    try {
      port = await listen({ host: wanted.host, port: requested })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT') throw error
      // Skip IPv6 on a machine without it, so that the default configuration still works.
      const at = formatHostPort(wanted)
      log.warn({ listener: name, interface: at }, 'this machine has no such interface; left out')
    }
  }
  if (port === undefined) throw new Error(`listener ${name} has no interface to listen on`)
  return port
}
