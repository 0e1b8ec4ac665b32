/**
 * The certificate that an instance issues to itself for its listeners (D-48), and the rule for when to renew it. Each
 * certificate has a fresh key.
 */
import { createPrivateKey, type X509Certificate } from 'node:crypto'
import {
  isSignedBy,
  readCertificates,
  validity,
  writeCertificates,
} from '../../../base/certificates.ts'
import { attempt } from '../../../base/node/attempt.ts'
import { isNonEmpty, type NonEmpty } from '../../../base/non-empty.ts'
import type { Random } from '../../../base/secrets/random.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { days } from '../../../base/time/duration.ts'
import { earlier, type Instant, minus, plus } from '../../../base/time/instant.ts'
import { LONGEST_COMMON_NAME } from '../../../protocol/x509.ts'
import { BACKDATE, type Issuer, newKeyPair, signCertificate } from '../write-certificate.ts'
import { parseServerName, type ServerName } from './server-name.ts'

const LIFETIME = days(90)

/** What a listener presents to its clients. */
export interface ServerIdentity {
  /** The leaf first, then the authorities above it. */
  readonly certificatePem: string
  readonly keyPem: Secret
  /** Of the leaf. */
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/** What a listener requires of its certificate. */
export interface WantedCertificate {
  /** Host names and IP addresses, as written in the configuration. */
  readonly names: readonly string[]
}

export type RenewalReason =
  | 'unreadable'
  | 'not-yet-valid'
  | 'near-its-end'
  | 'other-issuer'
  | 'other-names'

/**
 * Returns a new key and its certificate chain: the leaf, then the issuing CA, without the root (RFC 8446 §4.4.2).
 * Throws if there are no names, or if a name is neither a host name nor an IP address.
 */
export async function issueServerCertificate(
  wanted: WantedCertificate,
  issuer: Issuer,
  deps: { readonly random: Random; readonly clock: Pick<Clock, 'now'> },
): Promise<ServerIdentity> {
  const names = typedNames(wanted.names)
  const now = deps.clock.now()
  const { publicKey, privateKey } = await newKeyPair()
  const leaf = signCertificate(
    {
      commonName: commonName(names),
      publicKey,
      notBefore: minus(now, BACKDATE),
      notAfter: earlier(plus(now, LIFETIME), validity(issuer.certificate).notAfter),
      profile: { kind: 'server', names },
    },
    issuer,
    deps.random,
  )
  return {
    certificatePem: writeCertificates([leaf, issuer.certificate]),
    keyPem: new Secret(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()),
    ...validity(leaf),
  }
}

/** Returns why the current certificate must be replaced, or false if it can stay. */
export function needsRenewal(
  held: Pick<ServerIdentity, 'certificatePem' | 'keyPem'>,
  wanted: WantedCertificate & { readonly issuingPem: string },
  now: Instant,
): RenewalReason | false {
  const [leaf, intermediate] = readCertificates(held.certificatePem)
  if (leaf === undefined || !belongsTo(held.keyPem, leaf)) return 'unreadable'
  const { notBefore, notAfter } = validity(leaf)
  // It was issued while the clock was wrong.
  if (notBefore > now) return 'not-yet-valid'
  if ((notAfter - now) * 3 < notAfter - notBefore) return 'near-its-end'
  const [issuing] = readCertificates(wanted.issuingPem)
  if (issuing === undefined || intermediate?.fingerprint256 !== issuing.fingerprint256) {
    return 'other-issuer'
  }
  if (!isSignedBy(leaf, issuing)) return 'other-issuer'
  return typedNames(wanted.names).every((name) => carries(leaf, name)) ? false : 'other-names'
}

function typedNames(texts: readonly string[]): NonEmpty<ServerName> {
  const names = new Map<string, ServerName>()
  for (const text of texts) {
    const name = parseServerName(text)
    if (name === undefined) throw new Error(`"${text}" is neither a host name nor an IP address`)
    names.set(name.value, name)
  }
  const list = [...names.values()]
  if (!isNonEmpty(list)) throw new Error('a server certificate needs at least one name')
  return list
}

// Clients check the alternative names; the common name is only for human readers.
function commonName(names: NonEmpty<ServerName>): string {
  return names.find((name) => name.value.length <= LONGEST_COMMON_NAME)?.value ?? 'Latchkey'
}

function belongsTo(keyPem: Secret, leaf: X509Certificate): boolean {
  return attempt(() => leaf.checkPrivateKey(createPrivateKey(keyPem.reveal()))) ?? false
}

function carries(leaf: X509Certificate, name: ServerName): boolean {
  return name.type === 'ip'
    ? leaf.checkIP(name.value) !== undefined
    : leaf.checkHost(name.value, { subject: 'never' }) !== undefined
}
