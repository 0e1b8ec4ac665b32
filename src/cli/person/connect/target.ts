/** `GATEWAY/SERVICE`, as users write it: the address or the name of a gateway, and a TCP service behind it. */
import { type HostPort, parseHostPort } from '../../../base/host-port.ts'
import { isTcpServiceName } from '../../../client/gateway/tunnel.ts'
import { Misuse } from '../../terminal/io.ts'

export interface WantedService {
  /** As the user wrote it, for messages. */
  readonly text: string
  /** A name or a host. */
  readonly gateway: string
  readonly port: number | undefined
  readonly name: string
}

/** The name of an identity may contain any character; a port can only come after it. */
const SHAPE = /^(.+?)(?::([1-9]\d{0,4}))?\/([^/]+)$/
const MAX_PORT = 65_535

export function readTarget(text: string): WantedService {
  const [, gateway = '', digits, name = ''] = SHAPE.exec(text) ?? []
  const port = digits === undefined ? undefined : Number(digits)
  const isBadPort = /:\d*$/.test(gateway) || (port ?? 0) > MAX_PORT
  if (gateway === '' || isBadPort || !isTcpServiceName(name)) {
    throw new Misuse(
      `"connect" needs GATEWAY/SERVICE, for example gw1/postgres or gw1.example.com:8443/postgres (got ${JSON.stringify(text)})`,
    )
  }
  return { text, gateway, port, name }
}

/** Throws Misuse. */
export function readListen(text: string): HostPort {
  const at = parseHostPort(text)
  if (at === undefined) {
    throw new Misuse(
      `--listen must be HOST:PORT, for example 127.0.0.1:5432 (got ${JSON.stringify(text)})`,
    )
  }
  return at
}
