/**
 * Names what a request ended, and reads who has confirmed it, where there is no session that could ask afterwards: on our
 * own pages and at the OIDC endpoints. D-363, D-382.
 */
import { type Duration, milliseconds } from '../../base/time/duration.ts'
import {
  awaitConfirmations,
  type ConfirmationPorts,
  type Confirmations,
  readConfirmations,
} from '../../domain/sessions/confirming/confirmations.ts'
import { type ConfirmedThing, writeEndingId } from '../../domain/sessions/confirming/ending-id.ts'
import type { SessionPorts } from '../../domain/sessions/ports.ts'
import { ENDING_HEADER } from '../../protocol/headers.ts'
import type { ShownEnd } from '../../web/login/pages/shown-end.ts'
import type { Answer } from '../answer.ts'

/** Enough for everyone who is connected; a page must not wait for a router that is cut off. */
const PATIENCE: Duration = milliseconds(1_500)
const MOST_WAITING = 32

export type ReadEnd = (thing: ConfirmedThing | undefined) => Promise<ShownEnd | undefined>

/** Returns only numbers: a user may not learn which routers there are. */
export function createReadEnd(ports: ConfirmationPorts): ReadEnd {
  const awaitSome = createAwaiting(ports, MOST_WAITING)
  return async (thing) => {
    if (thing === undefined) return undefined
    const state = await awaitSome(thing, PATIENCE)
    const { outcome, certainAt } = state
    return { outcome, certainAt, ...countConfirmed(state) }
  }
}

/**
 * Returns a function that waits for confirmations. Beyond `most` calls at once it returns the current state, so that
 * calls that wait cannot occupy the service.
 */
export function createAwaiting(ports: ConfirmationPorts, most: number) {
  let waiting = 0
  return async (thing: ConfirmedThing, limit: Duration): Promise<Confirmations> => {
    if (waiting >= most) return readConfirmations(ports, thing)
    waiting += 1
    try {
      return await awaitConfirmations(ports, thing, limit)
    } finally {
      waiting -= 1
    }
  }
}

export function countConfirmed({ routers, instances }: Confirmations) {
  const all = [...routers, ...instances]
  const confirmed = all.filter(({ state }) => state === 'confirmed').length
  return { confirmed, all: all.length }
}

/**
 * The response of an OIDC endpoint always has the header, so that it does not say whether a token was valid (D-31): if
 * nothing ended, it names the newest end before.
 */
export function withEnding(
  { vault, endedSessions, clock }: Pick<SessionPorts, 'vault' | 'endedSessions' | 'clock'>,
  answer: Answer,
  ended: ConfirmedThing | undefined,
): Answer {
  const newest = endedSessions.latest()
  const thing = ended ?? { ranges: [[newest, newest] as const], at: clock.now() }
  return {
    ...answer,
    headers: { ...answer.headers, [ENDING_HEADER]: writeEndingId(vault, thing) },
  }
}
