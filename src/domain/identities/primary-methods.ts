/**
 * SPEC Authorization defines the first three; the `method` hint and the login endpoints use the same names. A passkey
 * that is the only credential of a login came later (D-431).
 */
export const PRIMARY_METHODS = ['password', 'cert', 'ext-jwt', 'passkey'] as const
export type PrimaryMethod = (typeof PRIMARY_METHODS)[number]
