/** SPEC Authorization defines them; the `method` hint and the login endpoints use the same names. */
export const PRIMARY_METHODS = ['password', 'cert', 'ext-jwt'] as const
export type PrimaryMethod = (typeof PRIMARY_METHODS)[number]
