/** The envelope of every API answer: API 1. */
import { z } from 'zod'

export const Link = z.object({ href: z.string() })
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

/** What every entity has. */
export const Entity = z.object({
  id: z.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  tags: Tags,
  _links: Links,
})

export const detail = <T extends z.ZodType>(data: T) => z.object({ data, meta: z.object({}) })

export const ApiError = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    requestId: z.string(),
    cause: z.object({ field: z.string(), reason: z.string() }).optional(),
  }),
  meta: z.object({ apiVersion: z.string(), apiEnrollmentVersion: z.string() }),
})
