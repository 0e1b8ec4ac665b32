/** How a session was authenticated, in the words of RFC 8176 where it has one. D-25. */

/** Of the primary methods. */
export const AMR_WORDS = { password: 'pwd', cert: 'swk', 'ext-jwt': 'ext-jwt' } as const

/** The word that says a TOTP or recovery code was proven; what is not there was not. */
export const AMR_TOTP = 'otp'

/**
 * The primary method that `amr` tells of. Passwords and certificates are primary factors alone; an external JWT may have
 * been shown beside one of them.
 */
export function primaryMethodOf(amr: readonly string[]): keyof typeof AMR_WORDS {
  if (amr.includes(AMR_WORDS.password)) return 'password'
  return amr.includes(AMR_WORDS.cert) ? 'cert' : 'ext-jwt'
}
