/**
 * Checks the current state of the identity behind a login. Since its primary factor was proven, it may have been
 * disabled, deleted, or given a policy that forbids the method, and what proved it may have been withdrawn. Runs at
 * every step of a login, at the exchange of its code and at every refresh.
 */
import type { ProvenPrimary } from '../factors/proven.ts'
import { type UsableRefusal, usableIdentity } from '../factors/usable-identity.ts'
import type { Accepted } from '../factors/verdict.ts'
import { refuseStale } from '../policies/rules.ts'
import { completeProof } from './again/complete-proof.ts'
import { type ProofRefusal, refuseProof } from './again/refuse-proof.ts'
import type { LoginPorts } from './ports.ts'

/** Why a login may not continue. */
export type RefusedAgain = UsableRefusal | ProofRefusal | 'login-voided'

/** What the check reads. A preview of a change hands in rules of its own (`management/what-if`). */
export interface CheckPorts extends Pick<LoginPorts, 'clock'> {
  readonly identities: Pick<LoginPorts['identities'], 'find'>
  readonly authenticators: Pick<LoginPorts['authenticators'], 'find'>
  readonly rules: Pick<LoginPorts['rules'], 'policy' | 'signer' | 'ca' | 'cas' | 'isStale'>
}

/**
 * A `login` has not begun a session yet, so it is void if all sessions of its identity were ended in the meantime
 * (D-226). A `session` that was not among those continues. Throws NOT_READY.
 */
export async function checkAgain(
  ports: CheckPorts,
  proof: ProvenPrimary,
  of: 'login' | 'session' = 'login',
): Promise<Pick<Accepted, 'identity' | 'policy'> | { readonly refusal: RefusedAgain }> {
  const { identities, authenticators, rules, clock } = ports
  refuseStale(rules)
  const primary = await completeProof(proof, authenticators, rules)
  const usable = usableIdentity(await identities.find(primary.identityId), () => true, ports)
  if ('refusal' in usable) return usable
  const { identity, policy } = usable
  if (of === 'login' && isVoided(primary, identity)) return { refusal: 'login-voided' }
  const refusal = refuseProof(primary, policy, rules, clock.now())
  return refusal === undefined ? usable : { refusal }
}

/** D-226. A login that recorded no number is older than the first increment. */
export function isVoided(
  { voidedLogins = 0 }: Pick<ProvenPrimary, 'voidedLogins'>,
  identity: Pick<Accepted['identity'], 'voidedLogins'>,
): boolean {
  return voidedLogins !== identity.voidedLogins
}
