/** The algorithms for signing tokens: D-23, with the names of RFC 7518 §3.1 and RFC 8037 §3.1. */
export const SIGNING_ALGORITHMS = ['ES256', 'RS256', 'EdDSA'] as const
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]
