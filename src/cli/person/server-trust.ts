/**
 * Connects to a server: with a known CA, or with one whose fingerprint the user has compared. Nothing is trusted just
 * because it was the first response (D-152, D-166).
 */
import { X509Certificate } from 'node:crypto'
import { readCertificate } from '../../base/certificates.ts'
import { instant, toRfc3339 } from '../../base/time/instant.ts'
import {
  type Client,
  connect,
  type FetchedCa,
  fetchCa,
  UntrustedServer,
} from '../../client/client.ts'
import { ClientError } from '../../client/errors.ts'
import { parseOrigin } from '../../client/wire/provider.ts'
import { textOf } from '../contexts/certificate-files.ts'
import type { Context } from '../contexts/contexts.ts'
import { CommandFailed, EXIT, type Io, Misuse } from '../terminal/io.ts'
import { plain } from '../terminal/output.ts'
import { withProgress } from '../terminal/waiting.ts'

/** Returns the client, and the server with what is trusted from now on. */
export async function connectTrusted(
  place: Context,
  fingerprint: string | undefined,
  io: Io,
): Promise<{ readonly client: Client; readonly place: Context }> {
  if (fingerprint !== undefined) {
    const wanted = readFingerprint(fingerprint)
    const others: string[] = []
    const isWanted = (shown: FetchedCa) => {
      others.push(shown.fingerprint)
      return bare(shown.fingerprint) === wanted
    }
    const ca = await withProgress(
      io,
      `Asking ${place.url} for its CA`,
      fetchCa({ url: place.url, confirm: isWanted }),
    ).catch((error: unknown) => {
      if (!(error instanceof ClientError && error.code === 'NOT_CONFIRMED')) throw error
      throw new CommandFailed(
        `the CA of ${place.url} has another SHA-256 than --ca-fingerprint: ${others.join(', ')}; ask the operator of the server which one is right`,
        EXIT.protocol,
      )
    })
    return reach({ ...place, ca }, io)
  }
  try {
    return await reach(place, io)
  } catch (error) {
    if (!(error instanceof UntrustedServer) || place.ca !== undefined) throw error
  }
  if (!io.isInteractive) {
    throw new CommandFailed(
      'the CA of the server is not trusted here; give it with --ca FILE, or its SHA-256 with --ca-fingerprint',
      EXIT.protocol,
    )
  }
  const ca = await fetchCa({ url: place.url, confirm: (shown) => confirm(shown, place.url, io) })
  return reach({ ...place, ca }, io)
}

/** Throws Misuse if it is not an address. */
export function checkUrl(url: string): string {
  try {
    return parseOrigin(url).origin
  } catch {
    throw new Misuse('--url must be https://HOST[:PORT], for example https://auth.example.com')
  }
}

/** Reads the file of `--ca`; undefined without one. Throws CommandFailed. */
export async function readCa(
  path: string | undefined,
  io: Pick<Io, 'resolve'>,
): Promise<string | undefined> {
  if (path === undefined) return undefined
  const text = await textOf(io.resolve(path), path)
  if (readCertificate(text) !== undefined) return text
  throw new CommandFailed(`${path} is not a certificate in PEM`, EXIT.data)
}

/** Returns the fingerprint of the first certificate in a text, if it is a root, for `--ca-fingerprint`. */
export function rootFingerprint(pem: string): string | undefined {
  const first = new X509Certificate(pem)
  return first.ca && first.checkIssued(first) ? first.fingerprint256 : undefined
}

async function reach(place: Context, io: Io) {
  const client = await withProgress(io, `Connecting to ${place.url}`, connect(place))
  return { client, place }
}

async function confirm(
  { subject, fingerprint, validTo }: FetchedCa,
  url: string,
  io: Io,
): Promise<boolean> {
  io.err(`${url} presents a CA that is not trusted here yet:`)
  io.err(`  subject      ${plain(subject.replaceAll('\n', ', '))}`)
  io.err(`  valid until  ${toRfc3339(instant(validTo.getTime()))}`)
  io.err(`  SHA-256      ${fingerprint}`)
  io.err(
    'Compare it with a fingerprint that you got another way; an attacker in between would show another one.',
  )
  for (;;) {
    const answer = (await io.ask('Is this the right one? (yes/no) ')).trim().toLowerCase()
    if (answer === 'yes') return true
    if (answer === 'no' || answer === 'n') return false
  }
}

const bare = (fingerprint: string) => fingerprint.replaceAll(':', '').toUpperCase()

function readFingerprint(text: string): string {
  const read = bare(text.replace(/^sha-?256[:=\s]*/i, ''))
  if (!/^[\dA-F]{64}$/.test(read)) {
    throw new Misuse('--ca-fingerprint must be the SHA-256 of a certificate: 64 hexadecimal digits')
  }
  return read
}
