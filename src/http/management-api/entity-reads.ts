/** The two calls that read what is managed: the list, and one by its id. API 2, 3.3. */
import type { z } from 'zod'
import type { ListMeta } from '../../contract/envelope.ts'
import type { ListFields, ListQuery } from '../../domain/lists/list-query.ts'
import type { PageOf } from '../../domain/paging.ts'
import { type Envelope, found, idIn, listed } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'

export interface EntityReads<Id extends string, Detail, Shown> {
  readonly path: `/${string}`
  readonly summaries: { readonly list: string; readonly one: string }
  /** More about the list. */
  readonly description?: string
  readonly fields: ListFields
  readonly replies: {
    readonly one: z.ZodType<Envelope<Shown>>
    readonly list: z.ZodType<{ data: Shown[]; meta: z.output<typeof ListMeta> }>
  }
  list(query: ListQuery): Promise<PageOf<Detail>>
  find(id: Id): Promise<Detail>
  show(detail: Detail): Shown
}

export function addReads<Id extends string, Detail, Shown>(
  api: Api,
  entity: EntityReads<Id, Detail, Shown>,
): void {
  const { path, summaries, description, fields, replies } = entity
  api.add(
    {
      method: 'GET',
      path,
      access: 'admin',
      summary: summaries.list,
      ...(description === undefined ? {} : { description }),
      list: fields,
      answers: { 200: replies.list },
    },
    async ({ list }) => listed(fields, list, await entity.list(list), entity.show),
  )

  api.add(
    {
      method: 'GET',
      path: `${path}/:id` as const,
      access: 'admin',
      summary: summaries.one,
      answers: { 200: replies.one },
    },
    async ({ path: { id } }) => found(entity.show(await entity.find(idIn({ id })))),
  )
}
