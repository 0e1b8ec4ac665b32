/**
 * The external JWT that a policy demands with every API call. SPEC Authentication 5: re-checked on every request; D-14,
 * R069.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import { type AuthQuery, extJwtQuery } from '../../protocol/auth-query.ts'
import { checkSecondaryJwt, type JwtOwner } from '../factors/external-jwt.ts'
import { demandedSigner, secondaryJwtUnmet } from '../login/demands.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { SessionPorts } from './ports.ts'

/** Throws UNAUTHORIZED with the secondary challenge and the queries of what else is outstanding. */
export async function demandSecondaryJwt(
  ports: Pick<SessionPorts, 'brand' | 'clock' | 'rules' | 'signerKeys'>,
  policy: AuthPolicy,
  owner: JwtOwner,
  bearers: readonly Secret[],
  otherQueries: readonly AuthQuery[],
): Promise<void> {
  const demanded = demandedSigner(policy, ports.rules)
  if (demanded === undefined) return
  const { signer } = demanded
  const verdict = await checkSecondaryJwt(ports, signer, owner, bearers)
  if (verdict === 'satisfied') return
  const queries = signer === undefined ? [] : [extJwtQuery(signer)]
  throw secondaryJwtUnmet(ports.brand, demanded, verdict, [...otherQueries, ...queries])
}
