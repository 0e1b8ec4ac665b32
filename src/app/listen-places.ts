/** Where a listener listens, and what to tell the operator if it cannot. */
import net from 'node:net'
import { formatHostPort, type HostPort, parseHostPort } from '../base/host-port.ts'
import type { Listener } from '../config/config.ts'
import { RefusedStart } from './installation/private-files.ts'

export function distinctInterfaces({
  bindPoints,
}: Pick<Listener, 'bindPoints'>): readonly HostPort[] {
  return [
    ...new Map(
      bindPoints.map((point) => [formatHostPort(point.interface), point.interface]),
    ).values(),
  ]
}

/** A start that was refused because of the place to listen on; another port may help. */
export class UnusablePlace extends RefusedStart {
  /** Undefined if there is no listener yet. */
  readonly listener: string | undefined
  readonly port: number

  constructor(message: string, at: { listener: string | undefined; port: number }, cause: Error) {
    super(message, { cause })
    this.listener = at.listener
    this.port = at.port
  }
}

/** What listens: the most likely reason for a taken port is that it is already running. */
type Program = 'service' | 'gateway'

/** Returns a message for the operator, if there is something that they can do. */
export function explainListenError(
  error: NodeJS.ErrnoException & { readonly address?: string; readonly port?: number },
  listener?: string,
  program: Program = 'service',
): Error {
  const { code, address: host = '', port = 0 } = error
  const where = formatHostPort({ host, port })
  const prefix = listener === undefined ? '' : `listener ${listener}: `
  if (code === 'EADDRINUSE') {
    const message = `${prefix}${where} is already in use; is the ${program} already running?`
    return new UnusablePlace(message, { listener, port }, error)
  }
  if (code === 'EACCES') {
    const message = `${prefix}this user may not listen on ${where}; use a port above 1023`
    return new UnusablePlace(message, { listener, port }, error)
  }
  return error
}

/**
 * Listens on each interface for a moment. Throws UnusablePlace for one that is taken. A first start does this before it
 * creates anything, so that the next attempt can store another address (D-337).
 */
export async function refuseTakenPlaces(
  interfaces: readonly string[],
  program: Program = 'service',
): Promise<void> {
  for (const place of new Set(interfaces)) {
    const at = parseHostPort(place)
    if (at === undefined) continue
    try {
      await listenBriefly(at)
    } catch (error) {
      const explained = explainListenError(error as NodeJS.ErrnoException, undefined, program)
      // Anything else, such as a machine without IPv6, is for the start itself to judge.
      if (explained instanceof UnusablePlace) throw explained
    }
  }
}

function listenBriefly({ host, port }: HostPort): Promise<void> {
  const server = net.createServer((socket) => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => server.close(() => resolve()))
  })
}
