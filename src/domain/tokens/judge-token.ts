/**
 * Decides whether a genuine access token is still valid. Calls and introspection both use it, and it applies the rules
 * that the router feed sends to routers (D-34, D-52, D-232). It reads only copies in memory, never the database.
 */
import { type LoginProof, type UnmetDemand, unmetDemand } from '../../protocol/policy-demands.ts'
import type { AccessToken } from './access-token.ts'
import type { TokenPorts } from './ports.ts'

/** Returns why the token has ended, for the log; undefined if it has not. */
export function tokenEnd(
  { endedSessions }: Pick<TokenPorts, 'endedSessions'>,
  { sessionId, tokenId }: Pick<AccessToken, 'sessionId' | 'tokenId'>,
): string | undefined {
  if (endedSessions.has(sessionId)) return 'the session has ended'
  return endedSessions.has(tokenId) ? 'the token was revoked' : undefined
}

/** Returns what its policy demands that the login did not prove; undefined if nothing. */
export function unmetDemandOf(
  { rules }: { readonly rules: Pick<TokenPorts['rules'], 'demands'> },
  { authPolicyId, ...proof }: Pick<AccessToken, 'authPolicyId' | keyof LoginProof>,
): UnmetDemand | undefined {
  return unmetDemand(rules.demands(authPolicyId), proof)
}
