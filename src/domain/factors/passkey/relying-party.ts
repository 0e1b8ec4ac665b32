/**
 * The site that passkeys are created for: WebAuthn Level 3 §5.1.2. It is the host of the address that the request was
 * sent to, which is one of the configured addresses. D-430.
 */
import { isIP } from 'node:net'

export interface RelyingParty {
  /** RP ID: the host, without port. */
  readonly id: string
  readonly name: string
  /** The origins whose pages may use its passkeys: our own addresses at this host. */
  readonly origins: readonly string[]
}

/** Returns undefined if the host is an IP address: browsers do not create passkeys for one. */
export function relyingPartyAt(
  hostname: string,
  baseUrls: readonly string[],
  name: string,
): RelyingParty | undefined {
  const id = hostname.toLowerCase()
  if (id === '' || id.startsWith('[') || isIP(id) !== 0) return undefined
  const origins = baseUrls.filter((url) => new URL(url).hostname === id)
  return { id, name, origins: origins.map((url) => new URL(url).origin) }
}
