/**
 * Whether a login is still enough for its policy, according to the policies in the feed. D-232. The controller uses the
 * same function for its own calls.
 */
import type { ChallengedSigner } from '../protocol/challenge.ts'
import {
  challengedSigner,
  isBoundElsewhere,
  type LoginProof,
  type PolicyDemands,
  unmetDemand,
} from '../protocol/policy-demands.ts'

/** What a session proved, and the policy that it must satisfy. */
export interface LoginUnderPolicy extends LoginProof {
  readonly policyId: string
}

/** What is compared with policies as long as a connection is open. */
export interface JudgedLogin extends LoginUnderPolicy {
  /** The certificate that the token is bound to, and that of the connection: SHA-256 in base64url. */
  readonly boundTo: string | undefined
  readonly shown: string | undefined
}

export type PolicyRefusal =
  | { readonly reason: 'policy-unmet'; readonly why: string }
  | { readonly reason: 'token-bound-elsewhere' }
  /** Only the controller accepts the JWT: a connection here has one credential. */
  | { readonly reason: 'secondary-jwt-required'; readonly signer?: ChallengedSigner }

/** Returns undefined if the policy accepts the login, or if the controller does not send policies. */
export function policyRefusal(
  policies: ReadonlyMap<string, PolicyDemands> | undefined,
  login: JudgedLogin | undefined,
): PolicyRefusal | undefined {
  if (policies === undefined || login === undefined) return undefined
  const demands = policies.get(login.policyId)
  const unmet = unmetDemand(demands, login)
  if (unmet !== undefined || demands === undefined) {
    return { reason: 'policy-unmet', why: unmet ?? 'policy-gone' }
  }
  if (isBoundElsewhere(demands, login, () => login.shown)) {
    return { reason: 'token-bound-elsewhere' }
  }
  if (demands.requireExtJwt === null) return undefined
  const signer = challengedSigner(demands)
  return { reason: 'secondary-jwt-required', ...(signer === undefined ? {} : { signer }) }
}
