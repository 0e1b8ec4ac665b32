/**
 * The certificates of the listeners. Our own are issued, stored in the home and renewed in time; those that the
 * operator configures are read again when their files change. Neither needs a restart.
 */
import { readFile, stat } from 'node:fs/promises'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import { Secret } from '../base/secrets/secret.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Config, IdentityFiles, Listener } from '../config/config.ts'
import type { CertificateAuthorities } from '../domain/certificates/own/authorities.ts'
import { needsRenewal } from '../domain/certificates/own/server-certificate.ts'
import { readServerIdentity } from '../https-server/server-identity.ts'
import { homeFiles } from './installation/home.ts'
import {
  RefusedStart,
  readText,
  refuseWorldReadable,
  replacePrivateFile,
} from './installation/private-files.ts'

export interface ShownCertificate {
  readonly certificatePem: string
  readonly keyPem: Secret
  /** `identity.ca`: what clients need to trust it, besides our own PKI (D-312). */
  readonly caPem?: string
}

/** A source of certificates that can be read again. */
export interface CertificateSource {
  /** Returns the first certificate; a problem prevents the start. */
  load(): Promise<ShownCertificate>
  /** Returns a newer certificate, or undefined. A problem is logged, and the old certificate stays. */
  renew(): Promise<ShownCertificate | undefined>
}

interface SourceDependencies {
  readonly config: Config
  readonly authorities: CertificateAuthorities
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** Returns the source of the listener's certificate: its files, or our own PKI. */
export function certificateSource(listener: Listener, deps: SourceDependencies): CertificateSource {
  const { config } = deps
  if (listener.identity !== undefined) return givenCertificate(listener.identity, deps)
  // One certificate serves all listeners without a configured one.
  const hosts = config.listeners
    .filter(({ identity }) => identity === undefined)
    .flatMap(({ bindPoints }) => bindPoints.map(({ address }) => address.host))
  return ownCertificate({ ...deps, home: config.home, hosts })
}

/**
 * Returns what renews the certificates of all listeners and shows those that have changed. It returns whether any has,
 * and throws the first failure after all were tried.
 */
export function createRenewal(
  listeners: readonly {
    readonly source: CertificateSource
    show?(renewed: ShownCertificate): void
  }[],
): () => Promise<boolean> {
  async function renewAll(): Promise<boolean> {
    const failures: unknown[] = []
    let hasChanged = false
    for (const { source, show } of listeners) {
      try {
        const renewed = await source.renew()
        if (renewed === undefined) continue
        show?.(renewed)
        hasChanged = true
      } catch (error) {
        failures.push(error) // the other listeners need theirs all the same
      }
    }
    if (failures.length > 0) throw failures[0]
    return hasChanged
  }

  let renewing: Promise<boolean> = Promise.resolve(false)
  return () => {
    // One at a time: a signal may arrive during a round, and both would write the same files.
    renewing = renewing.then(renewAll, renewAll)
    return renewing
  }
}

/** Names under which every instance is reachable from its own machine. */
const LOCAL_NAMES = ['localhost', '127.0.0.1', '::1']

interface OwnDependencies extends Omit<SourceDependencies, 'config'> {
  readonly home: string
  /** Hosts of the bind-point addresses. */
  readonly hosts: readonly string[]
}

/** A certificate of our own PKI, for the names of the bind points and the local names. */
export function ownCertificate(deps: OwnDependencies): CertificateSource {
  const { authorities, clock, random, log } = deps
  const { serverCertificate, serverKey } = homeFiles(deps.home)
  const names = [...new Set([...deps.hosts, ...LOCAL_NAMES])]
  let shown: ShownCertificate | undefined

  async function issue(reason: string): Promise<ShownCertificate> {
    const identity = await authorities.issueServerCertificate({ names })
    // Write the key first: a certificate without its key is detected as unreadable and replaced.
    await replacePrivateFile(serverKey, identity.keyPem.reveal(), { random })
    await replacePrivateFile(serverCertificate, identity.certificatePem, { random })
    log.info({ reason, names }, 'a server certificate was issued')
    return identity
  }

  async function current(): Promise<ShownCertificate> {
    await refuseWorldReadable(serverKey)
    const [certificatePem, key] = [await readText(serverCertificate), await readText(serverKey)]
    if (certificatePem === undefined || key === undefined) return issue('none')
    const held = { certificatePem, keyPem: new Secret(key) }
    const wanted = { names, issuingPem: authorities.serverIssuingPem }
    const reason = needsRenewal(held, wanted, clock.now())
    return reason === false ? held : issue(reason)
  }

  return {
    async load() {
      shown = await current()
      return shown
    },
    async renew() {
      const next = await current()
      // Compare with the certificate in use: another listener may have renewed the shared files.
      if (next.certificatePem === shown?.certificatePem) return undefined
      shown = next
      return next
    },
  }
}

/** Files that the operator maintains: `identity` or `web[].identity`. */
export function givenCertificate(
  files: IdentityFiles,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): CertificateSource {
  let seen = ''
  let trouble = ''

  async function fingerprint(): Promise<string> {
    const { cert, key, ca } = files
    const named = [cert, key, ca].filter((file) => file !== undefined)
    const all = await Promise.all(named.map((file) => stat(file)))
    return all.map(({ mtimeMs, size, ino }) => `${mtimeMs}/${size}/${ino}`).join(' ')
  }

  /** Checked repeatedly, but each problem is logged once. */
  function stay(problems: readonly string[]): undefined {
    if (trouble === problems.join('; ')) return
    trouble = problems.join('; ')
    const message = 'the new certificate cannot be used; keeping the old one'
    log.error({ file: files.cert, problems }, message)
  }

  return {
    async load() {
      seen = await fingerprint()
      const reading = await readGiven(files, clock)
      if (reading.state === 'unusable') throw new RefusedStart(unusable(files, reading))
      for (const note of reading.notes) log.warn({ file: files.cert }, note)
      return reading.identity
    },
    async renew() {
      try {
        const now = await fingerprint()
        if (now === seen) {
          trouble = ''
          return undefined
        }
        const reading = await readGiven(files, clock)
        if (reading.state === 'unusable') return stay(reading.problems)
        seen = now
        trouble = ''
        for (const note of reading.notes) log.warn({ file: files.cert }, note)
        log.info({ file: files.cert }, 'a server certificate was reloaded')
        return reading.identity
      } catch (error) {
        return stay([(error as Error).message])
      }
    },
  }
}

/** Returns what a start would say about the certificates that the operator maintains: why it ends, or else what it warns of. */
export async function checkGivenCertificates(
  listeners: readonly Pick<Listener, 'identity'>[],
  clock: Clock,
): Promise<{ readonly problems: readonly string[]; readonly notes: readonly string[] }> {
  const [problems, notes] = [new Set<string>(), new Set<string>()] // listeners may share their files
  for (const { identity } of listeners) {
    if (identity === undefined) continue
    const reading = await readGiven(identity, clock)
    if (reading.state === 'unusable') problems.add(unusable(identity, reading))
    else for (const note of reading.notes) notes.add(`${identity.cert}: ${note}`)
  }
  return { problems: [...problems], notes: [...notes] }
}

async function readGiven(files: IdentityFiles, clock: Clock) {
  await refuseWorldReadable(files.key)
  const [certificatePem, key] = [
    await readFile(files.cert, 'utf8'),
    await readFile(files.key, 'utf8'),
  ]
  const reading = readServerIdentity({ certificatePem, keyPem: new Secret(key) }, clock.now())
  if (reading.state === 'unusable' || files.ca === undefined) return reading
  const caPem = await readFile(files.ca, 'utf8')
  return { ...reading, identity: { ...reading.identity, caPem } }
}

const unusable = (
  { cert }: IdentityFiles,
  { problems }: { readonly problems: readonly string[] },
) => `${cert}: ${problems.join('; ')}`
