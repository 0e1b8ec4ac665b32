/**
 * Records why a genuine code or refresh token got no tokens: the response says only `invalid_grant`, and its request id
 * leads to the reason. D-133, R109.
 *
 * Tokens that were never issued are not recorded, because an anonymous caller could fill the database. The holder of a
 * genuine token could do so too, by presenting it repeatedly; those are repeats, and share a row (D-207).
 */

import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import { networkOf } from '../../base/network.ts'
import type { Caller, TokenRefusalReason } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Events } from '../audit/stores.ts'
import { createGuessOrder, oneAfterTheOther } from '../factors/guessing/guess-order.ts'

export type RecordRefusal = (refusal: {
  readonly identityId: IdentityId | undefined
  /** Undefined for a code, whose session never began: it can be refused once. */
  readonly sessionId: ApiSessionId | undefined
  readonly reason: TokenRefusalReason
  readonly caller: Caller
}) => Promise<void>

export function createRecordRefusal(deps: {
  readonly events: Pick<Events, 'insert'>
  readonly recordEvent: RecordEvent
}): RecordRefusal {
  const { events, recordEvent } = deps
  const begin = createGuessOrder()
  return async ({ identityId, sessionId, reason, caller }) => {
    const refused = { type: 'token.refused', identityId, sessionId, reason } as const
    const event = recordEvent(caller, refused)
    await oneAfterTheOther(begin, networkOf(caller.address), () => events.insert(event))
  }
}
