/**
 * Authentication context classes: what `acr_values` can ask for and what `acr` states. D-460; OIDC Core §2 and §3.1.2.1,
 * RFC 9470. They follow from `amr`, so that nothing about them is stored.
 */
import { RECOVERY_CODE } from './amr.ts'
import {
  type FactorChoice,
  SECOND_FACTOR_IDS,
  SECOND_FACTORS,
  type SecondFactorId,
} from './second-factors.ts'

export const ACR = {
  oneFactor: 'urn:latchkey:acr:1fa',
  twoFactors: 'urn:latchkey:acr:2fa',
  totp: 'urn:latchkey:acr:totp',
  /** OpenID Connect EAP ACR Values: phishing-resistant. */
  passkey: 'phr',
} as const satisfies Readonly<Record<SecondFactorId | 'oneFactor' | 'twoFactors', string>>

/** The one that any login reaches comes last, as OIDC Core has clients order them: by preference. */
export const ACR_VALUES: readonly string[] = [ACR.passkey, ACR.totp, ACR.twoFactors, ACR.oneFactor]

/** Which second factors reach each class; one of them is enough. */
const REACHED_BY: ReadonlyMap<string, FactorChoice> = new Map<string, FactorChoice>([
  [ACR.twoFactors, SECOND_FACTOR_IDS],
  ...SECOND_FACTOR_IDS.map((id) => [ACR[id], [id]] as const),
])

/** Stated by `amr` once two factors are proven (RFC 8176). */
const SEVERAL_FACTORS = 'mfa'

/** Returns the strongest class that a login reached. `amr` states each of its factors. */
export function acrOf(amr: readonly string[]): string {
  const hasPasskey = amr.includes(SECOND_FACTORS.passkey.amr) && !amr.includes(RECOVERY_CODE)
  if (hasPasskey) return ACR.passkey
  if (amr.includes(SECOND_FACTORS.totp.amr)) return ACR.totp
  return amr.includes(SEVERAL_FACTORS) ? ACR.twoFactors : ACR.oneFactor
}

/**
 * Returns the second factors of which a login must prove one to reach a class of `acr_values`, or undefined if it need
 * not prove any. One of the classes is enough, and unknown ones are no demand (OIDC Core §3.1.2.1).
 */
export function factorsForAcr(acrValues: string | undefined): FactorChoice | undefined {
  const asked = acrValues?.split(' ').filter((value) => ACR_VALUES.includes(value)) ?? []
  if (asked.length === 0 || asked.includes(ACR.oneFactor)) return undefined
  const enough = new Set(asked.flatMap((value) => REACHED_BY.get(value) ?? []))
  return SECOND_FACTOR_IDS.filter((id) => enough.has(id))
}

/** Returns the class to ask for where a value of `amr` is missing; undefined if no class leads to it. */
export function acrFor(amr: string): string | undefined {
  if (amr === SEVERAL_FACTORS) return ACR.twoFactors
  const factor = SECOND_FACTOR_IDS.find((id) => SECOND_FACTORS[id].amr === amr)
  return factor && ACR[factor]
}
