/** Audit events by whom they are about, who caused them, what they are and when: for administrators. D-358. */
import type { Instant } from '../../../base/time/instant.ts'
import { EVENT_TYPES } from '../../audit/event-types.ts'
import type { RecordedEvent } from '../../audit/recorded-event.ts'
import type { Events } from '../../audit/stores.ts'
import { anyOf, compares, contains, equals, isAmong } from '../../lists/filters.ts'
import type { Filter } from '../../lists/list-query.ts'
import type { Page, PageOf } from '../../paging.ts'

export interface WantedEvents {
  /** A part of a name, as it was at the time, or an id. Empty: everyone. */
  readonly person: string
  readonly actor: string
  /** A type, or the part before its dot. Empty: every type. */
  readonly type: string
  readonly from: Instant | undefined
  readonly until: Instant | undefined
}

/** The newest first. */
export function findEvents(
  { events }: { readonly events: Pick<Events, 'list'> },
  wanted: WantedEvents,
  page: Page,
): Promise<PageOf<RecordedEvent>> {
  const { person, actor, type, from, until } = wanted
  const parts: readonly Filter[] = [
    ...(person === '' ? [] : [named('identity', person)]),
    ...(actor === '' ? [] : [named('actor', actor)]),
    ...(type === '' ? [] : [isAmong('type', typesLike(type))]),
    ...(from === undefined ? [] : [compares('at', '>=', from)]),
    ...(until === undefined ? [] : [compares('at', '<=', until)]),
  ]
  return events.list(parts.length === 0 ? page : { ...page, filter: { op: 'and', parts } })
}

/** `login` stands for every type that begins with it. */
function typesLike(type: string): readonly string[] {
  const known = Object.keys(EVENT_TYPES).filter((one) => one.startsWith(`${type}.`))
  return [type, ...known]
}

function named(who: 'identity' | 'actor', text: string): Filter {
  return anyOf(equals(`${who}Id`, text), contains(`${who}Name`, text))
}
