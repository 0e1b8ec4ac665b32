/** Applies the rules of an upstream to a session that was accepted, by what the router knows about it now. D-403. */
import type { Clock } from '../../base/time/clock.ts'
import type { Accepted, Router } from '../../router/router.ts'
import type { UpstreamSettings } from '../settings/settings.ts'
import { type Unmet, unmetRequirement } from './judge.ts'

export interface JudgePorts {
  readonly router: Pick<Router, 'rolesOf'>
  readonly clock: Pick<Clock, 'now'>
}

type Rules = Pick<UpstreamSettings, 'require'>

/**
 * Returns undefined if the caller may pass. `open`: for a connection that is open already. Like the expiry of a token,
 * the age of a sign-in closes nothing (D-42).
 */
export function judgeCaller(
  { router, clock }: JudgePorts,
  accepted: Accepted,
  upstream: Rules,
  state: 'new' | 'open' = 'new',
): Unmet | undefined {
  const { maxAge, ...others } = upstream.require
  const require = state === 'open' || maxAge === undefined ? others : { ...others, maxAge }
  const { identityId, login, facts } = accepted
  const caller = {
    identityId,
    roles: router.rolesOf(accepted),
    policyId: login?.policyId,
    amr: login?.amr,
    authenticatedAt: facts?.authenticatedAt,
  }
  return unmetRequirement(require, caller, clock.now())
}

/**
 * Whether a connection that is open may stay so, asked whenever its identity has lost a role. What is lost stays lost:
 * the router forgets a removal when no token from before it can be alive, and a connection outlives its token (D-407).
 */
export function judgeOpen(
  ports: JudgePorts,
  accepted: Accepted,
  currentRules: () => Rules,
): () => boolean {
  let held = accepted
  return () => {
    held = withRoles(held, ports.router.rolesOf(held))
    return judgeCaller(ports, held, currentRules(), 'open') === undefined
  }
}

function withRoles(accepted: Accepted, names: readonly string[] | undefined): Accepted {
  const { facts } = accepted
  if (names === undefined || facts?.roles === undefined) return accepted
  return { ...accepted, facts: { ...facts, roles: { ...facts.roles, names } } }
}
