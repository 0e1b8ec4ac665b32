/**
 * What a client showed in its TLS handshake: the leaf, whose key the handshake proved, and whatever else came
 * with it, which proves nothing (R093). Who may log in with it is decided by `judge-certificate.ts`.
 */

export interface PresentedChain {
  /** DER. */
  readonly leaf: Uint8Array
  /** DER, in the order in which the client sent them. */
  readonly others: readonly Uint8Array[]
}

/** The leaf among them. Far more than any PKI in use needs, and few enough to look at each pair. */
export const MOST_CERTIFICATES = 10

/** Of all the certificates together. */
export const LARGEST_CHAIN_BYTES = 64 * 1024
