/**
 * What an enrolled client trusts from then on (D-175): the CAs that the server returns, preceded by what vouches for
 * the server itself if none of them does.
 */
import type { X509Certificate } from 'node:crypto'
import { isSignedBy, readCertificates } from '../../base/certificates.ts'
import { CA_CERTS_PATH, readBundle } from '../certificates/fetch-ca.ts'
import type { Wire } from '../wire/https-wire.ts'

/** What the enrollment trusted the server by. */
export type TrustedBy =
  | { readonly kind: 'given'; readonly ca: string }
  | { readonly kind: 'signer'; readonly certificate: X509Certificate }

export const pemOf = (by: TrustedBy) => (by.kind === 'given' ? by.ca : by.certificate.toString())

/** Over a connection that is already trusted. Empty if the server returns none. */
export async function fetchCas(
  wire: Pick<Wire, 'send'>,
  url: URL,
): Promise<readonly X509Certificate[]> {
  const answer = await wire.send({ method: 'GET', url: new URL(CA_CERTS_PATH, url) })
  return answer.status === 200 ? readBundle(Buffer.from(answer.body).toString('latin1')) : []
}

/** Returns it in PEM, for `connect`. */
export function trustedFrom(bundle: readonly X509Certificate[], by: TrustedBy): string {
  const others = vouches(bundle, by) ? [] : [pemOf(by)]
  return [...others, ...bundle.map(String)].map((pem) => `${pem.trimEnd()}\n`).join('')
}

function vouches(bundle: readonly X509Certificate[], by: TrustedBy): boolean {
  if (by.kind === 'signer') {
    const { certificate } = by
    return bundle.some((ca) => isSignedBy(certificate, ca))
  }
  const given = certificatesIn(by.ca).map(({ fingerprint256 }) => fingerprint256)
  return bundle.some(({ fingerprint256 }) => given.includes(fingerprint256))
}

/** A certificate that cannot be parsed is skipped, as Node does. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  return readCertificates(pem).filter((certificate) => certificate !== undefined)
}
