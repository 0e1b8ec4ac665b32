/** How a session was authenticated, in the terms of RFC 8176 where it defines one. D-25. */

/** The values for the primary methods. */
export const AMR_WORDS = { password: 'pwd', cert: 'swk', 'ext-jwt': 'ext-jwt' } as const

/**
 * Returns the primary method in `amr`. Passwords and certificates are only primary factors; an external JWT may have
 * been presented in addition to one of them.
 */
export function primaryMethodOf(amr: readonly string[]): keyof typeof AMR_WORDS {
  if (amr.includes(AMR_WORDS.password)) return 'password'
  return amr.includes(AMR_WORDS.cert) ? 'cert' : 'ext-jwt'
}
