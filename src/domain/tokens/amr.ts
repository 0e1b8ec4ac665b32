/**
 * How somebody logged in, in the words of RFC 8176 where it has one. D-25.
 */
import type { ProvenPrimary, ProvenSecondary } from '../login/proven.ts'

const WORDS = { password: 'pwd', cert: 'swk', 'ext-jwt': 'ext-jwt' } as const

/** The word that says a TOTP or recovery code was proven; what is not there was not. */
export const AMR_TOTP = 'otp'

export function amrOf(primary: ProvenPrimary, secondary: ProvenSecondary): readonly string[] {
  const { totp, extJwt } = secondary
  // One JWT may serve as primary and secondary (D-14); it is one factor all the same.
  const hasSecondJwt = extJwt !== undefined && extJwt !== primary.signerId
  const factors = 1 + (totp ? 1 : 0) + (hasSecondJwt ? 1 : 0)
  const words = [
    WORDS[primary.method],
    ...(totp ? [AMR_TOTP] : []),
    ...(hasSecondJwt ? [WORDS['ext-jwt']] : []),
    ...(factors > 1 ? ['mfa'] : []),
  ]
  return [...new Set(words)]
}
