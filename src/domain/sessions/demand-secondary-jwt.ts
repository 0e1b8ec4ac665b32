/**
 * The external JWT that a policy demands beside every API call. SPEC Authentication 5: re-checked on every request;
 * D-14, R069.
 */
import type { IdentityId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import { type AuthQuery, extJwtQuery } from '../../protocol/auth-query.ts'
import type { CheckSecondaryJwt } from '../factors/external-jwt.ts'
import { checkDemandedJwt, demandedSigner, secondaryJwtUnmet } from '../login/demands.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { Rules } from '../policies/rules.ts'

/** Thrown: UNAUTHORIZED with the secondary challenge, and the queries of what is outstanding besides. */
export type DemandSecondaryJwt = (
  policy: AuthPolicy,
  owner: { readonly identityId: IdentityId; readonly externalId: string | undefined },
  bearers: readonly Secret[],
  otherQueries: readonly AuthQuery[],
) => Promise<void>

export function createDemandSecondaryJwt(deps: {
  readonly brand: string
  readonly rules: Pick<Rules, 'signer'>
  readonly checkSecondaryJwt: CheckSecondaryJwt
}): DemandSecondaryJwt {
  const { brand, rules, checkSecondaryJwt } = deps
  return async (policy, owner, bearers, otherQueries) => {
    const demanded = demandedSigner(policy, rules)
    if (demanded === undefined) return
    const verdict = await checkDemandedJwt(demanded, owner, bearers, checkSecondaryJwt)
    if (verdict === 'satisfied') return
    const { signer } = demanded
    const queries = signer === undefined ? [] : [extJwtQuery(signer)]
    throw secondaryJwtUnmet(brand, demanded, verdict, [...otherQueries, ...queries])
  }
}
