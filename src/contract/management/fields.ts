/**
 * Fields that several management writes share, with their limits. API 1. The use cases check what needs the store or a
 * parser (names in use, certificates, claims).
 */
import { z } from 'zod'
import { isLine, isStorable } from '../../base/text.ts'
import { LONGEST_NAME, LONGEST_PEM } from '../../protocol/limits.ts'

const NOT_A_LINE = 'must be one line of text without control characters'

export const line = (longest: number) => z.string().min(1).max(longest).refine(isLine, NOT_A_LINE)

export const lineOrNothing = (longest: number) => z.string().max(longest).refine(isLine, NOT_A_LINE)

/** Names and usernames: leading and trailing blanks would be invisible. */
export const Name = line(LONGEST_NAME).refine(
  (name) => name.trim() === name,
  'must not begin or end with a blank',
)

/** The maximum length of a claim that names an identity (API 4.5). */
export const ExternalId = line(LONGEST_NAME)

/** Refers to another entity; the use case checks that it exists. */
export const Id = z.string().min(1).max(64)

export const Roles = z.array(line(256)).max(256)

/** D-391. The use case checks what they are. */
export const RouterHosts = z.array(line(300)).max(32)

export const Pem = z.string().min(1).max(LONGEST_PEM)

const MOST_TAGS = 64

/** A flat map; also used for `appData`. */
export const NewTags = z
  .unknown()
  // A record would silently drop this one.
  .refine(
    (value) => typeof value !== 'object' || value === null || !Object.hasOwn(value, '__proto__'),
    'must not have a member of that name: __proto__',
  )
  .pipe(
    z
      .record(
        line(128),
        z.union([
          z.string().max(4096).refine(isStorable, 'must be text without NUL'),
          z.number(),
          z.boolean(),
          z.null(),
        ]),
      )
      .refine(
        (tags) => Object.keys(tags).length <= MOST_TAGS,
        `must have at most ${MOST_TAGS} entries`,
      ),
  )
