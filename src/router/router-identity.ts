/**
 * The identity of a router towards its controller: the certificate and key of an identity of type `Router`, and the CAs
 * that it trusts the controller by. All in PEM; the caller decides where they are stored. D-42.
 */
import { createPrivateKey } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'
import { readCertificate } from '../base/certificates.ts'
import type { Secret } from '../base/secrets/secret.ts'

export interface RouterIdentity {
  readonly id: string
  /** The leaf, followed by any intermediates. */
  readonly cert: string
  readonly key: Secret
  readonly ca: string
}

/** Returns what is wrong with it, as the end of a sentence that begins with its name; undefined if it can be used. */
export function identityFault({ cert, key, ca }: RouterIdentity): string | undefined {
  const certificate = readCertificate(cert)
  if (certificate === undefined) return 'has a cert that is not a certificate in PEM'
  const privateKey = attempt(() => createPrivateKey(key.reveal()))
  if (privateKey === undefined) return 'has a key that is not a private key in PEM'
  if (!certificate.checkPrivateKey(privateKey)) return 'has a key that does not belong to its cert'
  if (readCertificate(ca) === undefined) return 'has a ca that is not a certificate in PEM'
  return undefined
}

/** For calls to the controller: presents our certificate, checks the controller's, and needs TLS 1.2 or newer. */
export function controllerTls({ cert, key, ca }: RouterIdentity): SecureContextOptions & {
  readonly rejectUnauthorized: true
} {
  return { cert, key: key.reveal(), ca, minVersion: 'TLSv1.2', rejectUnauthorized: true }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
