/**
 * What a session may still do under given rules. D-365: the same functions as for calls and refreshes decide; only the
 * rules, and where identities are read from, are handed in.
 */
import type { UnmetDemand } from '../../../protocol/policy-demands.ts'
import { TOKEN_REFUSALS, type TokenRefusalReason } from '../../audit/reasons.ts'
import { checkFinished } from '../../login/again/check-finished.ts'
import { completeProof } from '../../login/again/complete-proof.ts'
import { refuseProof } from '../../login/again/refuse-proof.ts'
import type { Rules } from '../../policies/rules.ts'
import type { ApiSession, LegacySession } from '../../sessions/api-session.ts'
import { openFactors } from '../../sessions/session-detail.ts'
import { unmetDemandOf } from '../../tokens/judge-token.ts'

export type SessionJudgement =
  | { readonly effect: 'continues' }
  /** A legacy session that must first prove a further factor. */
  | { readonly effect: 'restricted' }
  | { readonly effect: 'ends'; readonly reason: SessionRefusal }

export type SessionRefusal = TokenRefusalReason | UnmetDemand

/** Returns why a session or a login would be refused, in a sentence for an administrator. */
export function refusalSentence(reason: SessionRefusal): string {
  if (reason in TOKEN_REFUSALS) return TOKEN_REFUSALS[reason as TokenRefusalReason]
  switch (reason) {
    case 'policy-gone':
      return 'The policy is gone.'
    case 'signer-not-trusted':
      return 'The policy no longer allows the signer of the login.'
    case 'ca-not-trusted':
      return TOKEN_REFUSALS['ca-disabled']
    default:
      return TOKEN_REFUSALS['more-demanded']
  }
}

export type JudgePorts = Parameters<typeof checkFinished>[0] & {
  readonly rules: Pick<Rules, 'demands'>
}

export async function judgeSession(
  ports: JudgePorts,
  session: ApiSession,
): Promise<SessionJudgement> {
  return session.kind === 'oidc' ? judgeOidc(ports, session) : judgeLegacy(ports, session)
}

async function judgeOidc(
  ports: JudgePorts,
  session: Extract<ApiSession, { kind: 'oidc' }>,
): Promise<SessionJudgement> {
  const identity = await ports.identities.find(session.identityId)
  const unmet =
    identity &&
    unmetDemandOf(ports, {
      authPolicyId: identity.authPolicyId,
      amr: session.amr,
      signerId: session.primary.signerId,
      caId: session.primary.certificate?.trust?.caId,
      boundTo: session.primary.certificate?.fingerprint,
      boundKey: session.isSealed === true ? 'sealed' : session.boundKey,
    })
  if (unmet !== undefined) return { effect: 'ends', reason: unmet }
  const finished = await checkFinished(ports, session, 'session')
  return 'refusal' in finished ? { effect: 'ends', reason: finished.refusal } : CONTINUES
}

async function judgeLegacy(ports: JudgePorts, session: LegacySession): Promise<SessionJudgement> {
  const identity = await ports.identities.find(session.identityId)
  const policy = identity && ports.rules.policy(identity.authPolicyId)
  if (policy === undefined) return { effect: 'ends', reason: 'policy-gone' }
  const primary = await completeProof(session.primary, ports.authenticators, ports.rules)
  const refusal = refuseProof(primary, policy, ports.rules, ports.clock.now())
  if (refusal !== undefined) return { effect: 'ends', reason: refusal }
  if (policy.secondary.requireBoundToken) return { effect: 'ends', reason: 'token-not-bound' }
  const [open] = openFactors(session, policy)
  return open === undefined ? CONTINUES : { effect: 'restricted' }
}

const CONTINUES: SessionJudgement = { effect: 'continues' }
