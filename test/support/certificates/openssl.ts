/**
 * Certificates made by the `openssl` command, in a temporary folder: an independent hand, which also makes what our
 * own code never would. Keys are P-256 unless somebody asks for another.
 */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/base/time/clock.ts'
import { type Duration, days } from '../../../src/base/time/duration.ts'
import { plus, toRfc3339 } from '../../../src/base/time/instant.ts'
import type { PresentedChain } from '../../../src/domain/certificates/presented-chain.ts'
import { runInShell } from '../programs/one-shell.ts'
import { handMadeCsr } from './csr.ts'

export interface MadeCertificate {
  readonly subject: string
  readonly pem: string
  readonly keyPem: string
  readonly der: Uint8Array
  /** SHA-256, lower-case hex. */
  readonly fingerprint: string
}

export type KeyKind = 'P-256' | 'ed25519' | 'rsa-1024' | 'rsa-2048' | 'rsa-4096'

export interface Wanted {
  /** As openssl writes names: `/O=Example/CN=somebody`. */
  readonly subject?: string
  /** Self-signed without one. */
  readonly issuer?: MadeCertificate
  /** Lines of an extension section; none at all makes a version 1 certificate. */
  readonly extensions?: readonly string[]
  readonly notBefore?: Duration
  readonly notAfter?: Duration
  readonly key?: KeyKind
  /** Another certificate whose key this one gets. */
  readonly keyOf?: Pick<MadeCertificate, 'keyPem'>
  readonly digest?: 'sha256' | 'sha1' | 'md5'
  /** Further options of `openssl ca`. */
  readonly options?: readonly string[]
}

export interface Openssl {
  make(wanted: Wanted): Promise<MadeCertificate>
  /** A root, or below `issuer` an intermediate. */
  makeCa(wanted?: Wanted): Promise<MadeCertificate>
  /** A client certificate. */
  makeLeaf(issuer: MadeCertificate, wanted?: Wanted): Promise<MadeCertificate>
  /** Removes the folder. */
  close(): Promise<void>
}

export const CA_EXTENSIONS = [
  'basicConstraints=critical,CA:TRUE',
  'keyUsage=critical,keyCertSign,cRLSign',
  'subjectKeyIdentifier=hash',
]

export const LEAF_EXTENSIONS = [
  'basicConstraints=critical,CA:FALSE',
  'keyUsage=critical,digitalSignature',
  'extendedKeyUsage=clientAuth',
  'subjectKeyIdentifier=hash',
  'authorityKeyIdentifier=keyid',
]

const CONFIG = `
[ca]
default_ca = any
[any]
new_certs_dir = .
database = index.txt
unique_subject = no
rand_serial = yes
policy = anything
string_mask = utf8only
email_in_dn = yes
[anything]
[req]
distinguished_name = name
[name]
`

export async function openOpenssl(): Promise<Openssl> {
  const cwd = await mkdtemp(join(tmpdir(), 'latchkey-openssl-'))
  await writeFile(join(cwd, 'ca.cnf'), CONFIG)
  await writeFile(join(cwd, 'index.txt'), '')
  let count = 0
  // One at a time: they share a database.
  let last: Promise<unknown> = Promise.resolve()

  async function makeNow(wanted: Wanted): Promise<MadeCertificate> {
    const name = `c${++count}`
    const { subject = '/CN=somebody', issuer, extensions = [], digest = 'sha256' } = wanted
    const keyPem = wanted.keyOf?.keyPem ?? newKey(wanted.key ?? 'P-256')
    await writeFile(join(cwd, `${name}.key`), keyPem, { mode: 0o600 })
    await writeFile(join(cwd, `${name}.ext`), `${extensions.join('\n')}\n`)
    const signer = ['-cert', 'issuer.pem', '-keyfile', 'issuer.key']
    if (issuer !== undefined) {
      await writeFile(join(cwd, 'issuer.pem'), issuer.pem)
      await writeFile(join(cwd, 'issuer.key'), issuer.keyPem, { mode: 0o600 })
    }
    const config = ['-config', 'ca.cnf']
    const privateKey = createPrivateKey(keyPem)
    const isP256 = privateKey.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    // Only the key of the request counts. Half of the runs of openssl are saved by writing those of most keys here.
    if (isP256) await writeFile(join(cwd, `${name}.csr`), handMadeCsr({ privateKey }))
    const request = ['-key', `${name}.key`, '-subj', '/CN=any', '-out', `${name}.csr`]
    await runInShell(cwd, [
      ...(isP256 ? [] : [['openssl', 'req', '-new', ...config, ...request] as const]),
      [
        ...(['openssl', 'ca', ...config, '-batch', '-notext', '-preserveDN'] as const),
        ...['-utf8', '-subj', subject],
        ...['-md', mdFor(digest, issuer, keyPem)],
        ...['-in', `${name}.csr`, '-out', `${name}.pem`],
        ...['-startdate', asn1Time(wanted.notBefore ?? days(-2))],
        ...['-enddate', asn1Time(wanted.notAfter ?? days(2))],
        ...(issuer === undefined ? ['-selfsign', '-keyfile', `${name}.key`] : signer),
        ...(extensions.length === 0 ? [] : ['-extfile', `${name}.ext`]),
        ...(wanted.options ?? []),
      ],
    ])
    return madeCertificate(await readFile(join(cwd, `${name}.pem`), 'utf8'), keyPem, subject)
  }

  const make = (wanted: Wanted): Promise<MadeCertificate> => {
    const made = last.then(() => makeNow(wanted))
    last = made.catch(() => undefined)
    return made
  }

  return {
    make,
    makeCa: (wanted = {}) =>
      make({ subject: '/O=Example/CN=Example CA', extensions: CA_EXTENSIONS, ...wanted }),
    makeLeaf: (issuer, wanted = {}) => make({ issuer, extensions: LEAF_EXTENSIONS, ...wanted }),
    close: () => rm(cwd, { recursive: true, force: true }),
  }
}

/** What a client shows that has the key of the first one. */
export function chainOf(
  leaf: Pick<MadeCertificate, 'der'>,
  ...others: readonly Pick<MadeCertificate, 'der'>[]
): PresentedChain {
  return { leaf: leaf.der, others: others.map(({ der }) => der) }
}

/** A certificate and its key as others have made them. */
export function madeCertificate(pem: string, keyPem: string, subject?: string): MadeCertificate {
  const certificate = new X509Certificate(pem)
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
  const { subject: own = '', raw: der } = certificate
  return { subject: subject ?? own, pem, keyPem, der, fingerprint }
}

function newKey(kind: KeyKind): string {
  const format = { format: 'pem', type: 'pkcs8' } as const
  const bits = Number(kind.replace('rsa-', ''))
  if (kind === 'ed25519') return text(generateKeyPairSync('ed25519').privateKey.export(format))
  if (kind === 'P-256') {
    return text(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(format))
  }
  return text(generateKeyPairSync('rsa', { modulusLength: bits }).privateKey.export(format))
}

const text = (pem: string | Buffer) => pem.toString()

/** Ed25519 brings its own hash, and openssl wants to hear so. */
function mdFor(digest: string, issuer: MadeCertificate | undefined, ownKey: string): string {
  // An Ed25519 key in PKCS#8 has 48 octets, so its base64 is one line.
  const key = issuer?.keyPem ?? ownKey
  return key.trim().split('\n').length === 3 && key.length < 130 ? 'null' : digest
}

/** YYYYMMDDHHMMSSZ */
function asn1Time(from: Duration): string {
  return toRfc3339(plus(systemClock.now(), from))
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '')
}
