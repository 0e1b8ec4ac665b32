/**
 * How somebody logged in, in the words of RFC 8176 where it has one. D-25.
 */
import { AMR_TOTP, AMR_WORDS } from '../../protocol/amr.ts'
import type { ProvenPrimary, ProvenSecondary } from '../factors/proven.ts'

export function amrOf(primary: ProvenPrimary, secondary: ProvenSecondary): readonly string[] {
  const { totp, extJwt } = secondary
  // One JWT may serve as primary and secondary (D-14); it is one factor all the same.
  const hasSecondJwt = extJwt !== undefined && extJwt !== primary.signerId
  const factors = 1 + (totp ? 1 : 0) + (hasSecondJwt ? 1 : 0)
  const words = [
    AMR_WORDS[primary.method],
    ...(totp ? [AMR_TOTP] : []),
    ...(hasSecondJwt ? [AMR_WORDS['ext-jwt']] : []),
    ...(factors > 1 ? ['mfa'] : []),
  ]
  return [...new Set(words)]
}
