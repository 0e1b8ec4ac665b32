/**
 * The certificates that a client sent in its TLS handshake: the leaf, whose key the handshake proved, and the others,
 * which prove nothing (R093). `judge-certificate.ts` decides who may log in with it.
 */

export interface PresentedChain {
  /** DER. */
  readonly leaf: Uint8Array
  /** DER, in the order in which the client sent them. */
  readonly others: readonly Uint8Array[]
}

/** Including the leaf. Far more than any real PKI needs, and few enough to compare every pair. */
export const MOST_CERTIFICATES = 10

/** Total size of all certificates. */
export const LARGEST_CHAIN_BYTES = 64 * 1024
