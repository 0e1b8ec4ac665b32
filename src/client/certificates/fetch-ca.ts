/**
 * The CA of a server that is not trusted yet: `/.well-known/est/cacerts`, API 3.2; RFC 7030 §4.1.3. It comes over a
 * connection that proves nothing, so it is returned only after the caller has confirmed a fingerprint that came another
 * way (D-152).
 */
import type { X509Certificate } from 'node:crypto'
import { get } from 'node:https'
import { isSignedBy, readDerCertificate } from '../../base/certificates.ts'
import { readChildren, readDer } from '../../base/der.ts'
import { onUpgrade } from '../../base/node/on-upgrade.ts'
import { ClientError, ServerUnavailable, UnexpectedAnswer } from '../errors.ts'
import { readBody, TIMEOUT_MILLISECONDS } from '../wire/https-wire.ts'
import { parseOrigin } from '../wire/provider.ts'

/** A root that the server sent. */
export interface FetchedCa {
  readonly subject: string
  /** SHA-256 of the certificate: 32 bytes in upper-case hex, with colons, as `openssl x509 -fingerprint` prints it. */
  readonly fingerprint: string
  readonly validTo: Date
}

export interface FetchCaOptions {
  /** `https://HOST[:PORT]`. */
  readonly url: string
  /** Returns whether this is the CA. Shows the fingerprint to a user, or compares it with a known one. */
  readonly confirm: (ca: FetchedCa) => boolean | Promise<boolean>
  readonly timeoutMilliseconds?: number
}

export const CA_CERTS_PATH = '/.well-known/est/cacerts'
const MOST_BYTES = 256 * 1024
const MOST_CERTIFICATES = 16

/** Returns it in PEM, for `connect`. Throws ClientError with the code NOT_CONFIRMED if none is confirmed. */
export async function fetchCa(options: FetchCaOptions): Promise<string> {
  const { confirm, timeoutMilliseconds = TIMEOUT_MILLISECONDS } = options
  const url = new URL(CA_CERTS_PATH, parseOrigin(options.url))
  const roots = readBundle(await fetchUnchecked(url, timeoutMilliseconds)).filter(isRoot)
  if (roots.length === 0) throw new UnexpectedAnswer('the server shows no CA')
  for (const root of roots) {
    const { subject, fingerprint256: fingerprint, validToDate: validTo } = root
    if (await confirm({ subject: subject ?? '', fingerprint, validTo })) return root.toString()
  }
  throw new ClientError('NOT_CONFIRMED', 'the CA was not confirmed')
}

/** RFC 5652 §5.1: returns the certificates of a SignedData, which has nothing else. */
export function readBundle(text: string): readonly X509Certificate[] {
  const bytes = Buffer.from(text.replace(/\s+/g, ''), 'base64')
  const [, wrapped] = readChildren(readDer(bytes), 0x30) ?? []
  const [signed] = readChildren(wrapped, 0xa0) ?? []
  const list = readChildren(signed, 0x30)?.find(({ tag }) => tag === 0xa0)
  const found = readChildren(list, 0xa0, MOST_CERTIFICATES)
  const read = found?.map(({ raw }) => readDerCertificate(raw))
  const certificates = read?.filter((certificate) => certificate !== undefined)
  if (certificates === undefined || certificates.length !== read?.length) {
    throw new UnexpectedAnswer('the CAs of the server cannot be read')
  }
  return certificates
}

const isRoot = (certificate: X509Certificate) =>
  certificate.ca && isSignedBy(certificate, certificate)

function fetchUnchecked(url: URL, timeoutMilliseconds: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMilliseconds)
    // The only place that does not verify the server: the bytes are trusted only after `confirm`.
    const options = {
      agent: false,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      signal,
    } as const
    const fail = (cause: unknown) =>
      reject(
        new ServerUnavailable('NO_ANSWER', 'the server did not show its CAs', {
          mayHaveHappened: true,
          cause,
        }),
      )
    const call = get(url, options, (response) => {
      readBody(response, MOST_BYTES).then((body) => {
        const { statusCode } = response
        if (statusCode === 200) resolve(body.toString('latin1'))
        else reject(new UnexpectedAnswer(`the server shows no CAs (${statusCode})`))
      }, fail)
    }).on('error', fail)
    onUpgrade(call, () => fail(new Error('the server switched protocols without a request')))
  })
}
