/** The envelope of every API answer: API 1. */
import { z } from 'zod'
import { NEXT_ACTION_NAMES } from '../errors/next-actions.ts'
import { AuthQuery } from './auth-query.ts'

const Link = z.object({ href: z.string() })
export const Links = z.object({ self: Link })

/** RFC 3339, UTC, milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 })

export const Tags = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))

/** A reference to another entity. */
export const Reference = z.object({
  id: z.string(),
  name: z.string(),
  entity: z.string(),
  _links: Links,
})

export const detail = <T extends z.ZodType>(data: T) => z.object({ data, meta: z.object({}) })

export const ListMeta = z.object({
  filterableFields: z
    .array(z.string())
    .describe('The fields that `filter` and `sort` accept; `tags` stands for every tag.'),
  pagination: z.object({
    limit: z.int().positive(),
    offset: z.int().nonnegative(),
    totalCount: z.int().nonnegative().describe('The number of rows that match the filter.'),
  }),
})

/** API 2. */
export const list = <T extends z.ZodType>(row: T) =>
  z.object({ data: z.array(row), meta: ListMeta })

/** The answer of a create. */
export const CreatedReply = detail(z.object({ id: z.string(), _links: Links }))

/** The answer of PUT, PATCH, DELETE and actions. */
export const DoneReply = z.object({ data: z.strictObject({}), meta: z.strictObject({}) })

export const ApiError = z.object({
  error: z.object({
    code: z.string().describe('Stable; described at `docs/errors.md#<code>`.'),
    message: z.string(),
    requestId: z.string(),
    next: z
      .enum(NEXT_ACTION_NAMES)
      .describe(
        'What a client should do next. New values may be added: handle an unknown one by the status.',
      ),
    cause: z.object({ field: z.string(), reason: z.string() }).optional(),
  }),
  /** What is outstanding, beside a 401 (D-14, D-51). */
  authQueries: z.array(AuthQuery).optional(),
  meta: z.object({ apiVersion: z.string(), apiEnrollmentVersion: z.string() }),
})
