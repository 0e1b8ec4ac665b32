/**
 * Our own PKI: a root CA and the issuing CA below it, and in time their successors (D-129). They are made where they
 * are due and found in the database by every later start and by every other instance (D-48). Private keys are used in
 * this file alone.
 */
import { createPrivateKey } from 'node:crypto'
import { readCertificates, validity, writeCertificates } from '../../../base/certificates.ts'
import type { Random } from '../../../base/secrets/random.ts'
import type { Vault } from '../../../base/secrets/vault.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, days } from '../../../base/time/duration.ts'
import { earlier, type Instant, minus, plus } from '../../../base/time/instant.ts'
import type { Authorities } from '../stores.ts'
import {
  BACKDATE,
  type CertificateProfile,
  type ClientCertificate,
  type Issuer,
  newKeyPair,
  signCertificate,
  signClientCertificate,
} from '../write-certificate.ts'
import type { AuthorityRole, StoredAuthority } from './authority-record.ts'
import { issueServerCertificate, type WantedCertificate } from './server-certificate.ts'
import type { ServerIdentity } from './server-identity.ts'
import {
  clientIssuer,
  dueSuccessor,
  type OpenAuthority,
  rootOf,
  serverIssuer,
  standingAt,
} from './succession.ts'

/** What stands here changes while the service runs (D-129): ask each time, keep none of it. */
export interface CertificateAuthorities {
  /** Every root that has not expired, then every issuing CA, oldest first: the file that clients are given to trust. */
  readonly caBundlePem: string
  /** The same, each by itself. */
  readonly anchorPems: readonly string[]
  /** Who signs client certificates now; it goes with them, since some know only its root. */
  readonly issuingPem: string
  /** The root above it. */
  readonly rootPem: string
  /** No client certificate that is issued now can last longer. */
  readonly issuingEnd: Instant
  /** Who signs server certificates now. */
  readonly serverIssuingPem: string
  /** A certificate for 90 days with a fresh key. Throws when a name is no host name and no IP address. */
  issueServerCertificate(wanted: WantedCertificate): Promise<ServerIdentity>
  /** A certificate of the client profile (D-40), in DER. Takes less than a millisecond; signs at once. */
  signClientCertificate(client: ClientCertificate): Uint8Array
  /**
   * Takes over what other instances have made, and makes a successor where one is due. Answers those that it made
   * itself. Throws when a stored key cannot be opened or does not belong to its certificate; what was known stays.
   */
  refresh(): Promise<readonly StoredAuthority[]>
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

/** Enough to tell two installations apart in a list of CAs. */
const SHORT_ID_BYTES = 4

/** More than a root and an issuing CA are never due at once, and each may be lost to a faster instance. */
const MOST_LOOKS = 5

/**
 * The authorities, made where they are missing. Instances that do this at the same moment end up with the same
 * ones. Throws as `refresh` does.
 */
export async function loadAuthorities(deps: Deps): Promise<CertificateAuthorities> {
  const { clock } = deps
  const open = createOpener(deps.vault)
  let roots: readonly OpenAuthority[] = []
  let issuing: readonly OpenAuthority[] = []
  let working: Promise<readonly StoredAuthority[]> = Promise.resolve([])

  async function look(): Promise<readonly StoredAuthority[]> {
    const made: StoredAuthority[] = []
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const now = clock.now()
      const stored = await deps.authorities.list()
      // What has expired is of no use to anybody, also when its key cannot be opened any more.
      const opened = (wanted: AuthorityRole) =>
        stored.filter(({ role, notAfter }) => role === wanted && notAfter >= now).map(open)
      const found = { roots: opened('root'), issuing: opened('issuing') }
      const due = dueSuccessor(standingAt(now, found.roots, found.issuing), now)
      if (due === undefined) {
        roots = found.roots
        issuing = found.issuing
        return made
      }
      const last = stored.findLast(({ role }) => role === due.role)?.generation ?? 0
      const parent = due.role === 'issuing' ? due.parent : undefined
      const next = await makeAuthority(deps, due.role, last + 1, parent)
      // False: another instance was faster, and the next look finds its one.
      if (await deps.authorities.insert(next)) made.push(next)
    }
    throw new Error('the CA that is due cannot be made: other instances keep making ones of no use')
  }

  function refresh(): Promise<readonly StoredAuthority[]> {
    // One after the other: an older look must not overwrite a newer one.
    working = working.then(look, look)
    return working
  }

  const standing = () => standingAt(clock.now(), roots, issuing)
  const forClients = () => expectIssuer(clientIssuer(standing(), clock.now()))
  const forServers = () => expectIssuer(serverIssuer(standing(), clock.now()))

  function anchorPems(): readonly string[] {
    const { roots, issuing } = standing()
    return [...roots, ...issuing].map(pemOf)
  }

  await refresh()
  return {
    refresh,
    get anchorPems() {
      return anchorPems()
    },
    get caBundlePem() {
      return anchorPems().join('')
    },
    get issuingPem() {
      return pemOf(forClients())
    },
    get rootPem() {
      return pemOf(expectIssuer(rootOf(standing(), forClients())))
    },
    get issuingEnd() {
      return validity(forClients().certificate).notAfter
    },
    get serverIssuingPem() {
      return pemOf(forServers())
    },
    issueServerCertificate: (wanted) => issueServerCertificate(wanted, forServers(), deps),
    signClientCertificate: (client) => signClientCertificate(client, forClients()),
  }
}

/** Only where nobody could make a successor for a whole year. */
function expectIssuer(issuer: OpenAuthority | undefined): OpenAuthority {
  if (issuer === undefined) throw new Error('every CA of the installation has expired')
  return issuer
}

/** Each is opened once: what stands beside its certificate may be sealed anew, and is the same key. */
function createOpener(vault: Vault): (stored: StoredAuthority) => OpenAuthority {
  const known = new Map<string, OpenAuthority>()
  return (stored) => {
    const key = `${sealContext(stored)} ${stored.certificatePem}`
    const { generation, createdAt } = stored
    const open = known.get(key) ?? { ...openAuthority(vault, stored), generation, createdAt }
    known.set(key, open)
    return open
  }
}

const pems = new WeakMap<Issuer, string>()

function pemOf(issuer: Issuer): string {
  const pem = pems.get(issuer) ?? writeCertificates([issuer.certificate])
  pems.set(issuer, pem)
  return pem
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
): Promise<StoredAuthority> {
  const { title, lifetime, profile } = KINDS[role]
  const now = deps.clock.now()
  const shortId = Buffer.from(deps.random.bytes(SHORT_ID_BYTES)).toString('hex')
  const { publicKey, privateKey } = await newKeyPair()
  const end = plus(now, lifetime)
  const certificate = signCertificate(
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
    role,
    generation,
    certificatePem: writeCertificates([certificate]),
    sealedKey: deps.vault.seal('authority-key', pkcs8, sealContext({ role, generation })),
    createdAt: now,
    notAfter: validity(certificate).notAfter,
  }
}

function sealContext(authority: Pick<StoredAuthority, 'role' | 'generation'>): string {
  return `${authority.role}/${authority.generation}`
}
