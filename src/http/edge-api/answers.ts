/** The responses of the APIs, in their envelope, with links and references: API 1. */
import type { z } from 'zod'
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import type { ListMeta } from '../../contract/envelope.ts'
import { type ListFields, namesOf } from '../../domain/lists/list-query.ts'
import type { Page, PageOf } from '../../domain/paging.ts'
import { type Answer, json } from '../answer.ts'

export interface Envelope<T> {
  data: T
  meta: Record<string, never>
}

export function found<T>(data: T): Answer<200, Envelope<T>> {
  return json(200, { data, meta: {} })
}

export function listed<T, U>(
  fields: ListFields,
  { limit, offset }: Page,
  { rows, totalCount }: PageOf<T>,
  show: (row: T) => U,
): Answer<200, { data: U[]; meta: z.output<typeof ListMeta> }> {
  const pagination = { limit, offset, totalCount }
  return json(200, {
    data: rows.map(show),
    meta: { filterableFields: [...namesOf(fields)], pagination },
  })
}

/** 201 with the created entity. */
export function made<T>(data: T): Answer<201, Envelope<T>> {
  return json(201, { data, meta: {} })
}

/** 201 with the id of the created entity. */
export function created(entities: string, id: string) {
  return made({ id, _links: selfLink(`${entities}/${id}`) })
}

export function done(): Answer<200, Envelope<Record<string, never>>> {
  return json(200, { data: {}, meta: {} })
}

/** Links are relative to the API's prefix, so that they work under any address. */
export function selfLink(path: string): { self: { href: string } } {
  return { self: { href: `./${path}` } }
}

export function reference(entity: string, { id, name }: { id: string; name: string }) {
  return { id, name, entity, _links: selfLink(`${entity}/${id}`) }
}

export function timeOrNull(at: Instant | undefined): string | null {
  return at === undefined ? null : toRfc3339(at)
}

/** Returns the id in the path. The use case checks whether it exists. */
export function idIn<Id extends string>({ id }: { readonly id: string }): Id {
  return id as Id
}
