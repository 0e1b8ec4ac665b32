/**
 * A TLS connection to a gateway, with the certificate of a session. It is returned only after the gateway has proven who
 * it is, so that a credential that is sent over it cannot reach anyone else. D-423.
 */
import net, { isIP } from 'node:net'
import tls, { type ConnectionOptions, type TLSSocket } from 'node:tls'
import { formatHostPort, type HostPort } from '../../base/host-port.ts'
import { ServerUnavailable, UntrustedServer } from '../errors.ts'
import { connectionProblem } from '../wire/https-wire.ts'

/** Where a gateway is, and what its certificate must lead to. */
export interface GatewayPlace {
  readonly at: HostPort
  /** CAs in PEM that the user has named for this gateway; undefined: those of the network. */
  readonly ca?: string | undefined
  /** The controller lists a gateway of this host name, so a public certificate for that name is enough. */
  readonly isListed: boolean
}

export interface PresentedCertificate {
  readonly cert: string
  readonly key: string
  /** PEM: the CAs of the network. */
  readonly cas: string
}

const DIAL_MILLISECONDS = 10_000

export interface GatewayConnection {
  readonly socket: TLSSocket
  /** Closes it in a way that the gateway cannot mistake for an orderly end (D-421). */
  reset(): void
}

/** Throws UntrustedServer, ServerUnavailable; the reason of the signal. */
export function dialGateway(
  place: GatewayPlace,
  certificate: PresentedCertificate,
  signal?: AbortSignal,
): Promise<GatewayConnection> {
  signal?.throwIfAborted()
  const { at } = place
  const name = formatHostPort(at)
  return new Promise((resolve, reject) => {
    const below = net.connect({ ...at, noDelay: true })
    const fail = (error: unknown) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
      below.destroy()
      reject(error)
    }
    const giveUp = () => fail(signal?.reason)
    const timer = setTimeout(
      () => fail(unavailable('TIMED_OUT', `${name} did not answer in time`)),
      DIAL_MILLISECONDS,
    )
    signal?.addEventListener('abort', giveUp, { once: true })
    const lost = ({ code }: NodeJS.ErrnoException) =>
      fail(unavailable('NO_ANSWER', `no connection to ${name}: ${connectionProblem(code)}`))
    below.once('error', lost)
    below.once('connect', () => {
      below.off('error', lost)
      below.on('error', () => undefined)
      const socket = tls.connect({ ...tlsOptions(place, certificate), socket: below })
      socket.on('error', (error: NodeJS.ErrnoException) => {
        // Node types it as an Error; it is the code of one, or null.
        if (!socket.authorizationError) lost(error)
        else fail(new UntrustedServer(String(error.code), untrusted(name, error), { cause: error }))
      })
      socket.once('secureConnect', () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        const reset = () => {
          // Node never closes the handle of a reset while a shutdown is on its way, and at its exit waits for it forever.
          // The peer has its end then; there is nothing left to cut.
          if (socket.writableEnded) below.destroy()
          else below.resetAndDestroy()
          socket.destroy()
        }
        resolve({ socket, reset })
      })
    })
  })
}

function tlsOptions(
  { at, ca, isListed }: GatewayPlace,
  { cert, key, cas }: PresentedCertificate,
): ConnectionOptions {
  return {
    host: at.host,
    ...(isIP(at.host) === 0 ? { servername: at.host } : {}),
    ca: ca ?? [cas, ...(isListed ? publicRoots() : [])],
    // A CA that the user names is trusted, whether it is a root, an intermediate or the gateway's own certificate.
    allowPartialTrustChain: ca !== undefined,
    cert,
    key,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  }
}

function untrusted(name: string, { code }: NodeJS.ErrnoException): string {
  return `${name} is not a gateway of this network: its certificate is not trusted (${code})`
}

function unavailable(code: string, message: string): ServerUnavailable {
  return new ServerUnavailable(code, message, { mayHaveHappened: false })
}

/** With those of NODE_EXTRA_CA_CERTS; Node 20 has only the bundled ones (D-335). */
function publicRoots(): readonly string[] {
  return tls.getCACertificates?.('default') ?? tls.rootCertificates
}
