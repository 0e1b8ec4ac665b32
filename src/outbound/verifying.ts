/** Which certificate authorities are trusted for outgoing connections. */
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'

/**
 * Returns the authorities of Node (including NODE_EXTRA_CA_CERTS), of the system, and these. Create it once, when it is
 * first needed: reading the authorities of the system takes a tenth of a second.
 */
export function verifying(authorities: readonly string[]): ConnectionOptions {
  const usual = [...getCACertificates('default'), ...getCACertificates('system')]
  const secureContext = createSecureContext({ ca: [...new Set([...usual, ...authorities])] })
  // Explicitly: an environment variable could disable the verification.
  return { secureContext, rejectUnauthorized: true }
}
