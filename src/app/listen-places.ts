/** Where a listener listens, and what to tell the operator if it cannot. */
import { formatHostPort, type HostPort } from '../base/host-port.ts'
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

/** Returns a message for the operator, if there is something that they can do. */
export function explainListenError(
  error: NodeJS.ErrnoException & { readonly address?: string; readonly port?: number },
  listener: string,
): Error {
  const { code, address: host = '', port = 0 } = error
  const where = formatHostPort({ host, port })
  if (code === 'EADDRINUSE') {
    const message = `listener ${listener}: ${where} is already in use; is the service already running?`
    return new RefusedStart(message, { cause: error })
  }
  if (code === 'EACCES') {
    const message = `listener ${listener}: this user may not listen on ${where}; use a port above 1023`
    return new RefusedStart(message, { cause: error })
  }
  return error
}
