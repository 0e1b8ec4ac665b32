/** Whose certificates are believed when we connect to others. */
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'

/**
 * The authorities of Node (NODE_EXTRA_CA_CERTS too), of the system, and these. To be made once, at the first need:
 * reading the authorities of the system takes a tenth of a second.
 */
export function verifying(authorities: readonly string[]): ConnectionOptions {
  const usual = [...getCACertificates('default'), ...getCACertificates('system')]
  const secureContext = createSecureContext({ ca: [...new Set([...usual, ...authorities])] })
  // Said aloud: an environment variable could switch the verification off.
  return { secureContext, rejectUnauthorized: true }
}
