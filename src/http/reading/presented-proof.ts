/** The DPoP proof of a request, and the address that it must name: RFC 9449 §4.3. */
import type { IncomingMessage } from 'node:http'
import type { PresentedProof } from '../../domain/tokens/possession/proven-key.ts'
import { Failure } from '../../errors/catalogue.ts'
import { DPOP_HEADER } from '../../protocol/headers.ts'
import type { ListenerAddresses } from '../issuers.ts'
import { rawValues } from './header-fields.ts'

type Head = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'method' | 'url'>

export function presentedProof(head: Head, addresses: () => ListenerAddresses): PresentedProof {
  return {
    proofs: rawValues(head, DPOP_HEADER),
    method: head.method ?? '',
    target: () => targetOf(head, addresses()),
  }
}

/**
 * At a configured address, never at whatever the Host field says: otherwise a proof for another server would be
 * accepted here (R058).
 */
function targetOf(head: Head, addresses: ListenerAddresses): string | undefined {
  const { url = '' } = head
  if (!url.startsWith('/')) return undefined
  try {
    return `${addresses.baseUrlOf(head)}${url}`
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

/** Whether the client uses DPoP, so that every response has a nonce for its next proof (RFC 9449 §8.2). */
export function usesDpop({ headers }: Pick<Head, 'headers'>): boolean {
  if (DPOP_HEADER in headers) return true
  const { authorization = '' } = headers
  return /^dpop /i.test(authorization)
}
