/** SPEC Authorization names them; the `method` hint and the login endpoints agree. */
export const PRIMARY_METHODS = ['password', 'cert', 'ext-jwt'] as const
export type PrimaryMethod = (typeof PRIMARY_METHODS)[number]
