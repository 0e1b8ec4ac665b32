/** `GATEWAY/SERVICE`, as users write it: the address or the name of a gateway, and a TCP service behind it. */
import { type HostPort, parseHostPort } from '../../../base/host-port.ts'
import { isTcpServiceName } from '../../../client/gateway/tunnel.ts'
import { Misuse } from '../../terminal/io.ts'

export interface WantedService {
  /** As the user wrote it, for messages. */
  readonly text: string
  readonly gateway: HostPort
  readonly name: string
}

/** As in docs/router.md. */
const DEFAULT_PORT = 8443

export function readTarget(text: string): WantedService {
  const slash = text.lastIndexOf('/')
  const gateway = parseHostPort(text.slice(0, Math.max(slash, 0)), DEFAULT_PORT)
  const name = text.slice(slash + 1)
  if (slash < 0 || gateway === undefined || !isTcpServiceName(name)) {
    throw new Misuse(
      `"connect" needs GATEWAY/SERVICE, for example gw1.example.com:8443/postgres (got ${JSON.stringify(text)})`,
    )
  }
  return { text, gateway, name }
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
