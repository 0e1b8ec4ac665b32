/**
 * The client certificate of a request's connection, read once per connection: it cannot change, because listeners
 * neither resume nor renegotiate (D-21, R094). Nothing is validated here.
 */
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import { sha256 } from '../../base/encoding.ts'
import {
  MOST_CERTIFICATES,
  type PresentedChain,
} from '../../domain/certificates/presented-chain.ts'

const read = new WeakMap<TLSSocket, PresentedChain | undefined>()

/** The certificates that the client presented on this connection; undefined if there were none (D-6, R096). */
export function presentedChain({
  socket,
}: Pick<IncomingMessage, 'socket'>): PresentedChain | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  if (!read.has(socket)) read.set(socket, readChain(socket))
  return read.get(socket)
}

/** SHA-256 of the client's certificate, lower-case hex; undefined if it presented none. */
export function fingerprintOf(chain: PresentedChain | undefined): string | undefined {
  return chain && Buffer.from(sha256(chain.leaf)).toString('hex')
}

function readChain(socket: TLSSocket): PresentedChain | undefined {
  // R093: use the end-entity certificate of the handshake, as OpenSSL holds it; never search a list for it.
  const leaf = socket.getPeerX509Certificate()
  if (leaf === undefined) return undefined
  const others: Uint8Array[] = []
  // Node links the certificates in the order they were sent, regardless of issuer. Reading one more than allowed is
  // enough for the validation to see that there are too many, and ends the loop if the links form a cycle.
  let next = leaf.issuerCertificate
  while (next !== undefined && others.length < MOST_CERTIFICATES) {
    others.push(next.raw)
    next = next.issuerCertificate
  }
  return { leaf: leaf.raw, others }
}
