/**
 * How a user logged in, in the terms of RFC 8176 where it defines one. D-25.
 */
import { AMR_WORDS, RECOVERY_CODE, USER_PRESENT } from '../../protocol/factors/amr.ts'
import { SECOND_FACTOR_IDS, SECOND_FACTORS } from '../../protocol/factors/second-factors.ts'
import type { ProvenPrimary, ProvenSecondary } from '../factors/proven.ts'

export function amrOf(primary: ProvenPrimary, secondary: ProvenSecondary): readonly string[] {
  const { factors, extJwt, isRecovered } = secondary
  // One JWT may serve as primary and secondary (D-14), but it is still one factor.
  const hasSecondJwt = extJwt !== undefined && extJwt !== primary.signerId
  const proven = SECOND_FACTOR_IDS.filter((id) => factors.has(id))
  const count = 1 + proven.length + (hasSecondJwt ? 1 : 0)
  const words = [
    AMR_WORDS[primary.method],
    ...proven.map((id) => SECOND_FACTORS[id].amr),
    ...(hasSecondJwt ? [AMR_WORDS['ext-jwt']] : []),
    ...(factors.has('passkey') ? [isRecovered === true ? RECOVERY_CODE : USER_PRESENT] : []),
    ...(count > 1 ? ['mfa'] : []),
  ]
  return [...new Set(words)]
}
