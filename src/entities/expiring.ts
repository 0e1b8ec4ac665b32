/** The kinds of things that end by themselves: D-367. */
export const EXPIRY_KINDS = [
  'own-ca',
  'server-certificate',
  'signing-key',
  'third-party-ca',
  'signer-certificate',
  'enrolled-certificate',
] as const
export type ExpiryKind = (typeof EXPIRY_KINDS)[number]
