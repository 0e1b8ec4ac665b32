/**
 * A recorded event: the same members for every type, in the store, in the management API and in the audit output.
 * API 4.8.
 */
import type { ApiSessionId, EventId, IdentityId, RequestId } from '../base/ids.ts'
import { LISTED } from './every-entity.ts'
import { as, type Fields } from './field.ts'

const OPTIONAL = { type: 'text', isOptional: true, ...LISTED } as const

export const EVENT = {
  id: { type: 'text', of: as<EventId>(), ...LISTED },
  at: { type: 'time', ...LISTED },
  /** An older version may have written types that this version does not know. */
  type: { type: 'text', ...LISTED },
  identityId: { ...OPTIONAL, of: as<IdentityId>() },
  /** The names are those at the time, as far as they existed (D-350). */
  identityName: {
    ...OPTIONAL,
    description: 'The name of the identity at the time. Stays after the identity is deleted.',
  },
  sessionId: { ...OPTIONAL, of: as<ApiSessionId>() },
  actorId: {
    ...OPTIONAL,
    of: as<IdentityId>(),
    description: 'Who did it, if it was not the identity itself.',
  },
  actorName: { ...OPTIONAL, description: 'The name of the actor at the time.' },
  address: OPTIONAL,
  requestId: { ...OPTIONAL, of: as<RequestId>() },
  userAgent: OPTIONAL,
  reason: OPTIONAL,
  /** Differs for each type, so lists do not filter by it. */
  details: { type: 'any-map', isOptional: true, shownTo: 'administrator' },
  /** More than 1 if repeats were folded (D-207). */
  count: {
    type: 'number',
    shownTo: 'administrator',
    description: 'How often it happened in this minute; the other members describe the first time.',
  },
} as const satisfies Fields
