/**
 * Certificate requests: by the `openssl` command, as people make them, and by hand, as only attackers do. And what
 * openssl says about a certificate. The hand has its own DER, so that ours is not tested with itself.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInShell } from '../programs/one-shell.ts'

/** Runs openssl in a folder with these files; what it prints, and the file `out`. Rejects when it fails. */
export async function runOpenssl(
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<{ readonly text: string; readonly out: string }> {
  const cwd = await mkdtemp(join(tmpdir(), 'latchkey-csr-'))
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(cwd, name), content)
    const text = await runInShell(cwd, [['openssl', ...args]])
    return { text, out: await readFile(join(cwd, 'out'), 'utf8').catch(() => '') }
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

const curve = (name: string) => ['EC', '-pkeyopt', `ec_paramgen_curve:${name}`]
const rsa = (bits: number) => ['RSA', '-pkeyopt', `rsa_keygen_bits:${bits}`]

/** The argument of `openssl req -newkey`. */
export const KEYS = {
  'RSA 1024': rsa(1024),
  'RSA 2048': rsa(2048),
  'RSA 3072': rsa(3072),
  'RSA with a long exponent': [...rsa(2048), '-pkeyopt', `rsa_keygen_pubexp:${2n ** 64n - 1n}`],
  'RSA-PSS 2048': ['RSA-PSS', '-pkeyopt', 'rsa_keygen_bits:2048'],
  'P-192': curve('prime192v1'),
  'P-256': curve('P-256'),
  'P-384': curve('P-384'),
  'P-521': curve('P-521'),
  'P-256 spelled out': [...curve('P-256'), '-pkeyopt', 'ec_param_enc:explicit'],
  secp256k1: curve('secp256k1'),
  Ed25519: ['ED25519'],
  Ed448: ['ED448'],
} as const

export interface WantedCsr {
  readonly key?: keyof typeof KEYS
  /** As openssl writes names. */
  readonly subject?: string
  /** Further options of `openssl req`. */
  readonly options?: readonly string[]
  /** Lines of its `[req]` section, and sections behind it. */
  readonly config?: readonly string[]
}

export interface MadeCsr {
  readonly pem: string
  readonly keyPem: string
}

/** By openssl, unless any request will do: that one is written here, which takes no process. */
export async function makeCsr(wanted?: WantedCsr): Promise<MadeCsr> {
  if (wanted === undefined) return anyCsr()
  const { key = 'P-256', subject = '/CN=laptop/O=Example', options = [], config = [] } = wanted
  const lines = ['[req]', 'distinguished_name=name', 'utf8=yes', ...config, '[name]']
  const { text: keyPem, out: pem } = await runOpenssl(
    [
      ...['req', '-new', '-newkey', ...KEYS[key], '-nodes', '-keyout', '-'],
      ...['-subj', subject, '-config', 'cnf', '-out', 'out', ...options],
    ],
    { cnf: `${lines.join('\n')}\n` },
  )
  return { pem, keyPem }
}

/** The same as openssl makes without further wishes. */
function anyCsr(): MadeCsr {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = Buffer.concat([namePart('CN', 'laptop'), namePart('O', 'Example')])
  const keyPem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  return { pem: handMadeCsr({ privateKey, subject }), keyPem }
}

/** Tag, length, content, for contents below 16 MiB. */
export function tlv(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents)
  const { length } = body
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), body])
  const digits = length.toString(16)
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.of(tag, 0x80 | bytes.length), bytes, body])
}

/** X.520: the last number of `2.5.4.…`. */
export const ATTRIBUTES = { CN: 3, C: 6, L: 7, ST: 8, O: 10, OU: 11, serialNumber: 5, title: 12 }

export const TEXT = {
  utf8: 0x0c,
  printable: 0x13,
  t61: 0x14,
  ia5: 0x16,
  universal: 0x1c,
  bmp: 0x1e,
}

/** One part of a subject, as bytes that need not be what its tag says. */
export function namePart(
  name: keyof typeof ATTRIBUTES,
  value: string | Uint8Array,
  tag: number = TEXT.utf8,
): Buffer {
  const oid = tlv(0x06, Buffer.of(0x55, 4, ATTRIBUTES[name]))
  return tlv(0x31, tlv(0x30, oid, tlv(tag, Buffer.from(value))))
}

const ECDSA_WITH_SHA256 = tlv(0x30, Buffer.from('06082a8648ce3d040302', 'hex'))

export interface HandMadeCsr {
  /** The content of the subject. */
  readonly subject?: Uint8Array
  /** The whole SubjectPublicKeyInfo. */
  readonly publicKey?: Uint8Array
  readonly algorithm?: Uint8Array
  /** What stands behind the key: attributes. */
  readonly rest?: Uint8Array
  /** The key that signs; P-256. */
  readonly privateKey?: KeyObject
}

/** A signed request with whatever is asked for in it. */
export function handMadeCsr(wanted: HandMadeCsr = {}): string {
  const { privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey } = wanted
  const info = tlv(
    0x30,
    Buffer.of(0x02, 1, 0),
    tlv(0x30, wanted.subject ?? namePart('CN', 'laptop')),
    wanted.publicKey ?? spkiOf(privateKey),
    wanted.rest ?? tlv(0xa0),
  )
  const signature = sign('sha256', info, privateKey)
  const bits = tlv(0x03, Buffer.of(0), signature)
  return csrPem(tlv(0x30, info, wanted.algorithm ?? ECDSA_WITH_SHA256, bits))
}

/** SubjectPublicKeyInfo of the other half of a private key. */
export function spkiOf(privateKey: KeyObject): Buffer {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
}

export function csrPem(der: Uint8Array): string {
  return pemOf('CERTIFICATE REQUEST', der)
}

/** RFC 7468 §2. Without an empty line at the end: openssl would take what is above it for headers. */
export function pemOf(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** The bytes of the one block of a PEM text. */
export function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64')
}
