/**
 * Records why a genuine code or refresh token got no tokens: the response says only `invalid_grant`, and its request id
 * leads to the reason. D-133, R109.
 *
 * Tokens that were never issued are not recorded, because an anonymous caller could fill the database. The holder of a
 * genuine token could do so too, by presenting it repeatedly; those are repeats, and share a row (D-207).
 */

import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import { networkOf } from '../../base/network.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import type { TokenRefusalReason } from '../audit/reasons.ts'
import { recordEvent } from '../audit/record.ts'
import { oneAfterTheOther } from '../factors/guessing/guess-order.ts'
import type { TokenPorts } from './ports.ts'

export interface RefusedToken {
  readonly identityId: IdentityId | undefined
  /** Undefined for a code whose session never began. */
  readonly sessionId: ApiSessionId | undefined
  readonly reason: TokenRefusalReason
  readonly caller: Caller
}

export async function recordRefusal(
  ports: Pick<TokenPorts, keyof AuditPorts | 'events' | 'beginGuess'>,
  { identityId, sessionId, reason, caller }: RefusedToken,
): Promise<void> {
  const refused = { type: 'token.refused', identityId, sessionId, reason } as const
  const event = recordEvent(ports, caller, refused)
  const lane = `refused tokens ${networkOf(caller.address)}`
  await oneAfterTheOther(ports.beginGuess, lane, () => ports.events.insert(event))
}
