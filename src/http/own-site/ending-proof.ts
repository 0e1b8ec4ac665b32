/**
 * Names what a request ended, and reads who has confirmed it, where there is no session that could ask afterwards: on our
 * own pages and at the OIDC endpoints. D-363, D-382.
 */
import { type Duration, milliseconds } from '../../base/time/duration.ts'
import {
  awaitConfirmations,
  type ConfirmationPorts,
  readConfirmations,
} from '../../domain/sessions/confirming/confirmations.ts'
import { type ConfirmedThing, writeEndingId } from '../../domain/sessions/confirming/ending-id.ts'
import type { SessionPorts } from '../../domain/sessions/ports.ts'
import { ENDING_HEADER } from '../../protocol/headers.ts'
import type { ShownEnd } from '../../web/login/pages/shown-end.ts'
import type { Answer } from '../answer.ts'

/** Enough for everyone who is connected; a page must not wait for a router that is cut off. */
const PATIENCE: Duration = milliseconds(1_500)
/** So that pages that wait cannot occupy the service. Others get the current state at once. */
const MOST_WAITING = 32

export type ReadEnd = (thing: ConfirmedThing | undefined) => Promise<ShownEnd | undefined>

/** Returns only numbers: a user may not learn which routers there are. */
export function createReadEnd(ports: ConfirmationPorts): ReadEnd {
  let waiting = 0
  const read = async (thing: ConfirmedThing) => {
    if (waiting >= MOST_WAITING) return readConfirmations(ports, thing)
    waiting += 1
    try {
      return await awaitConfirmations(ports, thing, PATIENCE)
    } finally {
      waiting -= 1
    }
  }
  return async (thing) => {
    if (thing === undefined) return undefined
    const { outcome, certainAt, routers, instances } = await read(thing)
    const all = [...routers, ...instances]
    const confirmed = all.filter(({ state }) => state === 'confirmed').length
    return { outcome, certainAt, confirmed, all: all.length }
  }
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
