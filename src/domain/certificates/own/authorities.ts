/**
 * Our own PKI: a root CA, the issuing CA below it, and in time their successors (D-129). CAs are created when due;
 * later starts and other instances read them from the database (D-48). Private keys are used only in this file.
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
import {
  issueServerCertificate,
  type ServerIdentity,
  type WantedCertificate,
} from './server-certificate.ts'
import {
  clientIssuer,
  dueSuccessor,
  type OpenAuthority,
  serverIssuer,
  standingAt,
} from './succession.ts'

/** These values change while the service runs (D-129): read them each time and do not cache them. */
export interface CertificateAuthorities {
  /** Every root that has not expired, then every issuing CA, oldest first: the trust bundle for clients. */
  readonly caBundlePem: string
  /** The same, one by one. */
  readonly anchorPems: readonly string[]
  /**
   * The CA that signs client certificates now. It is sent along with them, because some verifiers know only its root.
   */
  readonly issuingPem: string
  /** No client certificate issued now can last longer than this. */
  readonly issuingEnd: Instant
  /** The CA that signs server certificates now. */
  readonly serverIssuingPem: string
  /** Issues a certificate for 90 days with a fresh key. Throws if a name is neither a host name nor an IP address. */
  issueServerCertificate(wanted: WantedCertificate): Promise<ServerIdentity>
  /** Issues a certificate with the client profile (D-40), in DER. Synchronous; takes less than a millisecond. */
  signClientCertificate(client: ClientCertificate): Uint8Array
  /**
   * The same for a router, whose certificate clients verify too: signed by the CA that signs server certificates.
   * `issuingEnd` and the CA to send along come with it.
   */
  routerIssuer(): {
    readonly issuingPem: string
    readonly issuingEnd: Instant
    sign(client: ClientCertificate): Uint8Array
  }
  /**
   * Loads the CAs that other instances created, and creates a successor if one is due. Returns those that it created
   * itself. Throws if a stored key cannot be decrypted or does not match its certificate; the CAs known so far stay.
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
    // It signs only end-entity certificates, never another CA.
    profile: { kind: 'authority', pathLength: 0 },
  },
}

/** Long enough to tell two installations apart in a list of CAs. */
const SHORT_ID_BYTES = 4

/** At most a root and an issuing CA are due at once, and another instance may create each of them first. */
const MOST_LOOKS = 5

/**
 * Loads the authorities and creates missing ones. Instances that do this at the same time end up with the same ones.
 * Throws as `refresh` does.
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
      // Skip expired CAs, even if their key can no longer be decrypted.
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
      // False: another instance was faster. The next read finds its CA.
      if (await deps.authorities.insert(next)) made.push(next)
    }
    throw new Error(
      'the next CA cannot be created: other instances keep creating ones that cannot be used',
    )
  }

  function refresh(): Promise<readonly StoredAuthority[]> {
    // One at a time: an older read must not overwrite a newer one.
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
    get issuingEnd() {
      return validity(forClients().certificate).notAfter
    },
    get serverIssuingPem() {
      return pemOf(forServers())
    },
    issueServerCertificate: (wanted) => issueServerCertificate(wanted, forServers(), deps),
    signClientCertificate: (client) => signClientCertificate(client, forClients()),
    routerIssuer() {
      const issuer = forServers()
      return {
        issuingPem: pemOf(issuer),
        issuingEnd: validity(issuer.certificate).notAfter,
        sign: (client) => signClientCertificate(client, issuer),
      }
    },
  }
}

/** Happens only if no instance could create a successor for a whole year. */
function expectIssuer(issuer: OpenAuthority | undefined): OpenAuthority {
  if (issuer === undefined) throw new Error('every CA of the installation has expired')
  return issuer
}

/** Each key is decrypted once: the stored value may be encrypted again, but it is the same key. */
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
 * The encryption authenticates the key, and the key authenticates the certificate: an attacker who can write to the
 * database but does not know the secret cannot make us hand out their own CA.
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
