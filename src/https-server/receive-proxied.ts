/**
 * Reads the PROXY header from a raw socket, before TLS, and leaves everything after it to the next reader. Only a
 * trusted balancer may name the client of a connection; any other connection is cut silently. D-208.
 */
import type { Socket } from 'node:net'
import type { Log } from '../base/log.ts'
import { isIn, type Network, parseAddress } from '../base/network.ts'
import type { Duration } from '../base/time/duration.ts'
import { LONGEST_PROXY_HEADER, readProxyHeader } from './proxy-header.ts'

/** The client of the connection, if the balancer names one. */
export interface ProxiedPeer {
  readonly address: string
  readonly port: number
}

export interface ProxyProtocol {
  /** The sources whose headers are believed; connections from other addresses are refused. */
  readonly trustedSources: readonly Network[]
}

/** Calls `ready` once, when the header is read; destroys a socket without a valid header instead. */
export function receiveProxied(
  socket: Socket,
  options: ProxyProtocol & { readonly within: Duration; readonly log: Log },
  ready: (peer: ProxiedPeer | undefined) => void,
): void {
  const { log } = options
  const { remoteAddress = '' } = socket
  // There is no other listener yet, and the error itself does not matter: `close` follows.
  socket.on('error', () => undefined)

  function refuse(reason: string): void {
    log.debug(
      { address: remoteAddress, reason },
      'closed a connection without a valid PROXY header',
    )
    stop()
    socket.destroy()
  }

  const timer = setTimeout(() => refuse('the header did not come in time'), options.within)
  let received: Buffer = Buffer.alloc(0)
  const source = parseAddress(remoteAddress)
  if (source === undefined || !options.trustedSources.some((network) => isIn(source, network))) {
    refuse('its source is not trusted')
    return
  }

  function read(): void {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
      received = Buffer.concat([received, chunk])
      const header = readProxyHeader(received.subarray(0, LONGEST_PROXY_HEADER))
      if (header.kind === 'incomplete') continue
      if (header.kind === 'invalid') {
        refuse(header.reason)
        return
      }
      stop()
      const rest = received.subarray(header.length)
      // TLS reads this buffered data before it reads from the network.
      if (rest.length > 0) socket.unshift(rest)
      ready(header.kind === 'local' ? undefined : header)
      return
    }
  }
  function ended(): void {
    stop()
    socket.destroy()
  }
  function stop(): void {
    clearTimeout(timer)
    socket.off('readable', read).off('end', ended).off('close', ended)
  }
  socket.on('readable', read).on('end', ended).on('close', ended)
}
