/**
 * The issuers of this controller: one for each bind-point address. The set is complete once every listener is
 * listening. D-2: a Host outside it never becomes an issuer (R058).
 */
import { formatHostPort, type HostPort, parseHostPort } from '../base/host-port.ts'
import { Failure } from '../errors/catalogue.ts'
import { type Issuer, PROVIDER_PREFIX } from '../protocol/oidc.ts'
import { type RequestHead, rawValues } from './reading/header-fields.ts'

const HTTPS_PORT = 443

/** The addresses of one listener. */
export interface ListenerAddresses {
  /** Returns the base URL that the request was sent to. Throws BAD_REQUEST, MISDIRECTED_REQUEST. */
  baseUrlOf(head: RequestHead): string
  issuerOf(head: RequestHead): Issuer
  /** Returns the host name that the request was sent to; if it is not one of ours, that of the first bind point. */
  hostnameOf(head: RequestHead): string
  readonly baseUrls: readonly string[]
}

export function listenerAddresses(addresses: readonly HostPort[]): ListenerAddresses {
  const byHost = new Map(addresses.map((address) => [formatHostPort(address), baseUrl(address)]))

  function baseUrlOf(head: RequestHead): string {
    const [host, ...others] = rawValues(head, 'host')
    if (host === undefined || others.length > 0) {
      throw new Failure('BAD_REQUEST', { detail: 'not exactly one Host field' })
    }
    const asked = parseHostPort(host, HTTPS_PORT)
    const found = asked && byHost.get(formatHostPort(asked))
    if (found === undefined) throw new Failure('MISDIRECTED_REQUEST')
    return found
  }

  return {
    baseUrlOf,
    issuerOf: (head) => issuerAt(baseUrlOf(head)),
    hostnameOf(head) {
      const asked = parseHostPort(head.headers.host ?? '', HTTPS_PORT)
      const isOurs = asked !== undefined && byHost.has(formatHostPort(asked))
      return (isOurs ? asked : addresses[0])?.host ?? ''
    },
    baseUrls: [...byHost.values()],
  }
}

export function issuerAt(base: string): Issuer {
  return `${base}${PROVIDER_PREFIX}` as Issuer
}

/** URLs omit the default port. Clients compare issuers as strings, so we do too. */
export function baseUrl(address: HostPort): string {
  const text = formatHostPort(address)
  return `https://${address.port === HTTPS_PORT ? text.slice(0, -`:${HTTPS_PORT}`.length) : text}`
}
