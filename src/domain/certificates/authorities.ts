/**
 * Our own PKI: a root CA and the issuing CA below it. Both are made at the first start and found in the
 * database by every later one and by every other instance (D-48). Private keys do not leave this file.
 */
import { createPrivateKey, sign, type X509Certificate } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { type Duration, days } from '../../base/duration.ts'
import { earlier, type Instant, minus, plus } from '../../base/instant.ts'
import type { Random } from '../../base/random.ts'
import type { Vault } from '../../base/vault.ts'
import type { AuthorityRole, StoredAuthority } from './authority-record.ts'
import { isSignedBy, readCertificates, validity, writeCertificates } from './certificate-chain.ts'
import { BACKDATE, issueServerCertificate, type WantedCertificate } from './server-certificate.ts'
import type { ServerIdentity } from './server-identity.ts'
import {
  certificateTemplate,
  type SessionCertificateContent,
} from './session/encode-certificate.ts'
import type { Authorities } from './stores.ts'
import { type CertificateProfile, type Issuer, newKeyPair, signCertificate } from './x509.ts'

export interface CertificateAuthorities {
  /** Root, then issuing CA: the file that clients are given to trust. */
  readonly caBundlePem: string
  readonly rootPem: string
  readonly issuingPem: string
  /** A certificate for 90 days with a fresh key. Throws when a name is no host name and no IP address. */
  issueServerCertificate(wanted: WantedCertificate): Promise<ServerIdentity>
  /** A certificate of the session profile (D-40), in DER. Takes less than a millisecond; signs at once. */
  signSessionCertificate(content: SessionCertificateContent): Uint8Array
}

interface Deps {
  readonly authorities: Authorities
  readonly vault: Vault
  readonly random: Random
  readonly clock: Pick<Clock, 'now'>
}

interface Kind {
  readonly title: string
  readonly lifetime: Duration
  readonly profile: CertificateProfile
}

const KINDS: Record<AuthorityRole, Kind> = {
  root: {
    title: 'Latchkey Root CA',
    lifetime: days(20 * 365),
    profile: { kind: 'authority' },
  },
  issuing: {
    title: 'Latchkey Issuing CA',
    lifetime: days(10 * 365),
    // It signs certificates for ends, never for another authority.
    profile: { kind: 'authority', pathLength: 0 },
  },
}

/** Far longer than anything we issue: an authority with less than this left gets a successor. */
const SUCCESSION = days(365)

/** Enough to tell two installations apart in a list of CAs. */
const SHORT_ID_BYTES = 4

/**
 * The current authorities, made where they are missing. Instances that do this at the same moment end up with
 * the same ones. Throws when a stored key cannot be opened or does not belong to its certificate.
 */
export async function loadAuthorities(deps: Deps): Promise<CertificateAuthorities> {
  const root = await ensureAuthority(deps, 'root')
  // The root is stored by now, so whoever signs an issuing CA signs with the same root.
  const issuing = await ensureAuthority(deps, 'issuing', root)
  const template = certificateTemplate(issuing.certificate)
  return {
    caBundlePem: writeCertificates([root.certificate, issuing.certificate]),
    rootPem: writeCertificates([root.certificate]),
    issuingPem: writeCertificates([issuing.certificate]),
    issueServerCertificate: (wanted) => issueServerCertificate(wanted, issuing, deps),
    signSessionCertificate(content) {
      const toBeSigned = template.toBeSigned(content)
      return template.finish(toBeSigned, sign('sha256', toBeSigned, issuing.privateKey))
    },
  }
}

async function ensureAuthority(deps: Deps, role: AuthorityRole, parent?: Issuer): Promise<Issuer> {
  const now = deps.clock.now()
  const newest = await findNewest(deps, role)
  if (newest !== undefined && isCurrent(newest.certificate, parent, now)) return newest

  const made = await makeAuthority(deps, role, (newest?.generation ?? 0) + 1, parent)
  if (await deps.authorities.insert(made.stored)) return made.issuer

  const winner = await findNewest(deps, role)
  if (winner !== undefined && isCurrent(winner.certificate, parent, now)) return winner
  throw new Error(`another instance made the ${role} CA at the same time, and it cannot be used`)
}

function isCurrent(
  certificate: X509Certificate,
  parent: Issuer | undefined,
  now: Instant,
): boolean {
  const isLasting = validity(certificate).notAfter > plus(now, SUCCESSION)
  return isLasting && (parent === undefined || isSignedBy(certificate, parent.certificate))
}

async function findNewest(
  deps: Deps,
  role: AuthorityRole,
): Promise<(Issuer & { readonly generation: number }) | undefined> {
  const stored = (await deps.authorities.list()).findLast((authority) => authority.role === role)
  return stored && { ...openAuthority(deps.vault, stored), generation: stored.generation }
}

/**
 * The seal vouches for the key, and the key for the certificate: somebody who can write to the database but
 * does not know the secret cannot make us hand out a CA of his own.
 */
function openAuthority(vault: Vault, stored: StoredAuthority): Issuer {
  const name = `the ${stored.role} CA (generation ${stored.generation})`
  const pkcs8 = vault.open('authority-key', stored.sealedKey, sealContext(stored))
  if (pkcs8 === undefined) {
    throw new Error(
      `the key of ${name} cannot be opened: it was stored under another installation secret`,
    )
  }
  const [certificate] = readCertificates(stored.certificatePem)
  if (certificate === undefined) throw new Error(`the stored certificate of ${name} is damaged`)
  const privateKey = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`the stored certificate of ${name} does not belong to its key`)
  }
  return { certificate, privateKey }
}

async function makeAuthority(
  deps: Deps,
  role: AuthorityRole,
  generation: number,
  parent: Issuer | undefined,
): Promise<{ readonly stored: StoredAuthority; readonly issuer: Issuer }> {
  const { title, lifetime, profile } = KINDS[role]
  const now = deps.clock.now()
  const shortId = Buffer.from(deps.random.bytes(SHORT_ID_BYTES)).toString('hex')
  const { publicKey, privateKey } = await newKeyPair()
  const end = plus(now, lifetime)
  const certificate = await signCertificate(
    {
      commonName: `${title} ${shortId}`,
      publicKey,
      notBefore: minus(now, BACKDATE),
      notAfter: parent === undefined ? end : earlier(end, validity(parent.certificate).notAfter),
      profile,
    },
    parent ?? { privateKey },
    deps.random,
  )
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
  return {
    stored: {
      role,
      generation,
      certificatePem: writeCertificates([certificate]),
      sealedKey: deps.vault.seal('authority-key', pkcs8, sealContext({ role, generation })),
      createdAt: now,
      notAfter: validity(certificate).notAfter,
    },
    issuer: { certificate, privateKey },
  }
}

function sealContext(authority: Pick<StoredAuthority, 'role' | 'generation'>): string {
  return `${authority.role}/${authority.generation}`
}
