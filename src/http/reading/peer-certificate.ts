/**
 * The client certificate of the connection that a request came over, read once for each connection: it cannot
 * change, because listeners neither resume nor renegotiate (D-21, R094). Judges nothing.
 */
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import { sha256 } from '../../base/encoding.ts'
import {
  MOST_CERTIFICATES,
  type PresentedChain,
} from '../../domain/certificates/presented-chain.ts'

const read = new WeakMap<TLSSocket, PresentedChain | undefined>()

/** What the client presented on this connection; undefined when it presented nothing (D-6, R096). */
export function presentedChain({
  socket,
}: Pick<IncomingMessage, 'socket'>): PresentedChain | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  if (!read.has(socket)) read.set(socket, readChain(socket))
  return read.get(socket)
}

/** SHA-256 of the client's certificate, lower-case hex; undefined when it presented none. */
export function fingerprintOf(chain: PresentedChain | undefined): string | undefined {
  return chain && Buffer.from(sha256(chain.leaf)).toString('hex')
}

function readChain(socket: TLSSocket): PresentedChain | undefined {
  // R093: the end-entity certificate of the handshake, as OpenSSL holds it; never found by searching a list.
  const leaf = socket.getPeerX509Certificate()
  if (leaf === undefined) return undefined
  const others: Uint8Array[] = []
  // Node links what was sent in the order in which it was sent, whoever issued it. One more than may be there is
  // enough for the judge to see that there are too many; and a circle ends.
  let next = leaf.issuerCertificate
  while (next !== undefined && others.length < MOST_CERTIFICATES) {
    others.push(next.raw)
    next = next.issuerCertificate
  }
  return { leaf: leaf.raw, others }
}
