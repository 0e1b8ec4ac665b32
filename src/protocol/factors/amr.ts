/** How a session was authenticated, in the terms of RFC 8176 where it defines one. D-25, D-433. */
import { SECOND_FACTORS } from './second-factors.ts'

/** The values for the primary methods. */
export const AMR_WORDS = {
  password: 'pwd',
  cert: 'swk',
  'ext-jwt': 'ext-jwt',
  passkey: SECOND_FACTORS.passkey.amr,
} as const

/** Stated instead of `user` where a recovery code stood for a passkey (D-464). RFC 8176 has no word for it. */
export const RECOVERY_CODE = 'recovery-code'

/** RFC 8176: the user was present. Stated with every passkey (D-433). */
export const USER_PRESENT = 'user'

/**
 * Returns the primary method in `amr`. Passwords and certificates are only primary factors; an external JWT may have
 * been presented in addition to one of them. A passkey can be either, and the primary method comes first.
 */
export function primaryMethodOf(amr: readonly string[]): keyof typeof AMR_WORDS {
  if (amr.includes(AMR_WORDS.password)) return 'password'
  if (amr.includes(AMR_WORDS.cert)) return 'cert'
  return amr[0] === AMR_WORDS.passkey ? 'passkey' : 'ext-jwt'
}
