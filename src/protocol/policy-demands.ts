/**
 * What an authentication policy currently demands, as the router feed sends it, and whether a session has proven
 * enough. D-52, D-232. The controller and every router use this same function, so that none of them is more lenient
 * than the others.
 */

import { type Challenge, type ChallengedSigner, insufficientAuthentication } from './challenge.ts'
import { ACR } from './factors/acr.ts'
import { primaryMethodOf } from './factors/amr.ts'
import {
  demandedChoices,
  type FactorDemands,
  SECOND_FACTOR_IDS,
  SECOND_FACTORS,
  type SecondFactorId,
  unmetChoices,
} from './factors/second-factors.ts'

export interface PolicyDemands extends FactorDemands {
  readonly id: string
  readonly allowsPassword: boolean
  readonly allowsCertificate: boolean
  /** Whether a passkey may begin a session without a password (D-431). */
  readonly allowsPasskey: boolean
  /** The signers whose JWT may begin a session: the enabled ones. */
  readonly signers: readonly string[]
  /** The third-party CAs whose certificates may begin a session: the verified and enabled ones. */
  readonly cas: readonly string[]
  /** Every request must also carry a JWT of this signer. It has no issuer if the signer was deleted. */
  readonly requireExtJwt: { readonly id: string; readonly issuer: string | null } | null
  /** A token that is bound to a certificate counts only together with that certificate (D-24). */
  readonly bindTokens: boolean
  /** A token counts only if it is bound to a key or a certificate, and that is proven (D-454). */
  readonly requireBoundToken: boolean
}

/** What a token or a session says about its login. */
export interface LoginProof {
  readonly amr: readonly string[]
  /** For a login by external JWT; missing in tokens from before D-232. */
  readonly signerId: string | undefined
  /** For a login by a certificate of a third-party CA. */
  readonly caId: string | undefined
  /** The certificate that the token is bound to: `cnf`, RFC 8705 §3.1. */
  readonly boundTo?: string | undefined
  /** The key that the token is bound to: `cnf`, RFC 9449 §6.1. */
  readonly boundKey?: string | undefined
}

export type UnmetDemand =
  | 'policy-gone'
  | 'method-not-allowed'
  | 'signer-not-trusted'
  | 'ca-not-trusted'
  | 'token-not-bound'
  | `${SecondFactorId}-missing`
  /** None of several factors, any of which would do. */
  | 'second-factor-missing'

/**
 * Returns undefined if the login is enough. The external JWT and the certificate of a request are checked by the
 * callers.
 */
export function unmetDemand(
  demands: PolicyDemands | undefined,
  { amr, signerId, caId, boundTo, boundKey }: LoginProof,
): UnmetDemand | undefined {
  if (demands === undefined) return 'policy-gone'
  switch (primaryMethodOf(amr)) {
    case 'password':
      if (!demands.allowsPassword) return 'method-not-allowed'
      break
    case 'cert':
      if (!demands.allowsCertificate) return 'method-not-allowed'
      if (caId !== undefined && !demands.cas.includes(caId)) return 'ca-not-trusted'
      break
    case 'ext-jwt':
      if (demands.signers.length === 0) return 'method-not-allowed'
      if (signerId !== undefined && !demands.signers.includes(signerId)) return 'signer-not-trusted'
      break
    case 'passkey':
      if (!demands.allowsPasskey) return 'method-not-allowed'
      break
  }
  if (demands.requireBoundToken && boundTo === undefined && boundKey === undefined) {
    return 'token-not-bound'
  }
  const [missing] = unmetChoices(demandedChoices(demands), (id) =>
    amr.includes(SECOND_FACTORS[id].amr),
  )
  if (missing === undefined) return undefined
  const [only, ...others] = missing
  return only === undefined || others.length > 0 ? 'second-factor-missing' : `${only}-missing`
}

/**
 * What a session is told whose policy has outgrown it: its token is invalid; and which class to ask for, if another login
 * would be enough (D-461, RFC 9470 §3). A `zt-session` cannot ask for one.
 */
export function outgrownChallenges(
  brand: string,
  invalid: Challenge,
  unmet: string | undefined,
): readonly Challenge[] {
  const acr = acrOfDemand(unmet)
  if (acr === undefined || invalid.scheme === 'zt-session') return [invalid]
  const stepUp = insufficientAuthentication(brand, { acr_values: acr })
  return [invalid, { ...stepUp, scheme: invalid.scheme }]
}

function acrOfDemand(unmet: string | undefined): string | undefined {
  if (unmet === 'second-factor-missing') return ACR.twoFactors
  const id = SECOND_FACTOR_IDS.find((one) => unmet === `${one}-missing`)
  return id && ACR[id]
}

/**
 * Whether the certificate counts that the token is bound to, and another one is presented. It counts if the policy binds
 * tokens to certificates, or requires a bound token and the token has no key, which is always proven. Thumbprints as in
 * `cnf`, RFC 8705 §3.1.
 */
export function isBoundElsewhere(
  { bindTokens, requireBoundToken }: Pick<PolicyDemands, 'bindTokens' | 'requireBoundToken'>,
  { boundTo, boundKey }: Pick<LoginProof, 'boundTo' | 'boundKey'>,
  presented: () => string | undefined,
): boolean {
  const counts = bindTokens || (requireBoundToken && boundKey === undefined)
  return counts && boundTo !== undefined && presented() !== boundTo
}

/** Returns the signer of the JWT that every request must carry, if the signer still exists. */
export function challengedSigner({ requireExtJwt }: PolicyDemands): ChallengedSigner | undefined {
  if (requireExtJwt === null || requireExtJwt.issuer === null) return undefined
  return { id: requireExtJwt.id, issuer: requireExtJwt.issuer }
}
