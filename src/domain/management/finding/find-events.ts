/** Audit events by whom they are about, who caused them, what they are and when: for administrators. D-358. */
import type { Instant } from '../../../base/time/instant.ts'
import { EVENT_TYPES } from '../../audit/event-types.ts'
import type { RecordedEvent } from '../../audit/recorded-event.ts'
import type { Events } from '../../audit/stores.ts'
import type { Comparator, FieldReference, Filter, FilterValue } from '../../lists/list-query.ts'
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
    ...(type === ''
      ? []
      : [{ op: 'in', values: typesLike(type), field: fieldOf('type') } as const]),
    ...(from === undefined ? [] : [compare('at', '>=', from)]),
    ...(until === undefined ? [] : [compare('at', '<=', until)]),
  ]
  return events.list(parts.length === 0 ? page : { ...page, filter: { op: 'and', parts } })
}

/** `login` stands for every type that begins with it. */
function typesLike(type: string): readonly string[] {
  const known = Object.keys(EVENT_TYPES).filter((one) => one.startsWith(`${type}.`))
  return [type, ...known]
}

function named(who: 'identity' | 'actor', text: string): Filter {
  const isId = compare(`${who}Id`, '=', text)
  const has: Filter = { op: 'contains', text, ignoresCase: true, field: fieldOf(`${who}Name`) }
  return { op: 'or', parts: [isId, has] }
}

const fieldOf = (name: string): FieldReference => ({ kind: 'field', name })

function compare(name: string, comparator: Comparator, value: FilterValue): Filter {
  return { op: 'compare', comparator, value, field: fieldOf(name) }
}
