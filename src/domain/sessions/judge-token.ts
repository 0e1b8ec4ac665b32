/**
 * Decides whether a genuine access token is still valid. Calls and introspection both use it, and it applies the rules
 * that the router feed sends to routers (D-34, D-52, D-232). It reads only copies in memory, never the database.
 */
import { type LoginProof, type UnmetDemand, unmetDemand } from '../../protocol/policy-demands.ts'
import type { Rules } from '../policies/rules.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import type { EndedSessions } from './ending/ended-sessions.ts'

export interface JudgeToken {
  /** Returns why the token has ended, for the log; undefined if it has not. */
  ended(token: Pick<AccessToken, 'sessionId' | 'tokenId'>): string | undefined
  /** Returns what its policy demands that the login did not prove; undefined if nothing. */
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
