/** The answers of the management API, in its envelope: API 1. */
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import type { Tags } from '../../domain/identities/identity.ts'
import { type ListFields, namesOf } from '../../domain/lists/list-query.ts'
import type { Page, PageOf } from '../../domain/paging.ts'
import { type Answer, json } from '../answer.ts'
import { selfLink } from './links.ts'

export function found(data: object): Answer {
  return json(200, { data, meta: {} })
}

export function listed<T>(
  fields: ListFields,
  { limit, offset }: Page,
  { rows, totalCount }: PageOf<T>,
  show: (row: T) => object,
): Answer {
  const pagination = { limit, offset, totalCount }
  return json(200, {
    data: rows.map(show),
    meta: { filterableFields: namesOf(fields), pagination },
  })
}

export function created(entities: string, id: string): Answer {
  return json(201, { data: { id, _links: selfLink(`${entities}/${id}`) }, meta: {} })
}

export function done(): Answer {
  return json(200, { data: {}, meta: {} })
}

/** What every entity has. */
export function entity(
  entities: string,
  it: {
    readonly id: string
    readonly createdAt: Instant
    readonly updatedAt: Instant
    readonly tags: Tags
  },
) {
  return {
    id: it.id,
    createdAt: toRfc3339(it.createdAt),
    updatedAt: toRfc3339(it.updatedAt),
    tags: it.tags,
    _links: selfLink(`${entities}/${it.id}`),
  }
}

export function timeOrNull(at: Instant | undefined): string | null {
  return at === undefined ? null : toRfc3339(at)
}

/** The id in the path. Whether anything has it, the use case finds out. */
export function idIn<Id extends string>(path: Readonly<Record<string, string>>): Id {
  return (path['id'] ?? '') as Id
}
