/**
 * Whether an access token that is genuine is still good: the one judgement for calls and introspection, in the words that
 * the router feed tells routers (D-34, D-52, D-232). No look-up: copies in memory alone.
 */
import { type LoginProof, type UnmetDemand, unmetDemand } from '../../protocol/policy-demands.ts'
import type { Rules } from '../policies/rules.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import type { EndedSessions } from './ending/ended-sessions.ts'

export interface JudgeToken {
  /** Why it has ended, for the log; undefined when it has not. */
  ended(token: Pick<AccessToken, 'sessionId' | 'tokenId'>): string | undefined
  /** What its policy has against it by now; undefined when nothing. */
  unmet(token: Pick<AccessToken, 'authPolicyId' | keyof LoginProof>): UnmetDemand | undefined
}

export function createJudgeToken(deps: {
  readonly endedSessions: Pick<EndedSessions, 'has'>
  readonly rules: Pick<Rules, 'demands'>
}): JudgeToken {
  const { endedSessions, rules } = deps
  return {
    ended({ sessionId, tokenId }) {
      if (endedSessions.has(sessionId)) return 'the session has ended'
      return endedSessions.has(tokenId) ? 'the token was revoked' : undefined
    },
    unmet: ({ authPolicyId, ...proof }) => unmetDemand(rules.demands(authPolicyId), proof),
  }
}
