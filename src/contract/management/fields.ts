/**
 * Fields that several management writes have, with their bounds. API 1. What needs the store or a reader of its own
 * (names in use, certificates, claims) is checked by the use cases.
 */
import { z } from 'zod'
import { isLine, isStorable } from '../../base/text.ts'
import { LONGEST_NAME, LONGEST_PEM } from '../../protocol/limits.ts'

const NOT_A_LINE = 'must be one line of text without control characters'

export const line = (longest: number) => z.string().min(1).max(longest).refine(isLine, NOT_A_LINE)

export const lineOrNothing = (longest: number) => z.string().max(longest).refine(isLine, NOT_A_LINE)

/** Names and usernames: nobody sees a blank at an end. */
export const Name = line(LONGEST_NAME).refine(
  (name) => name.trim() === name,
  'must not begin or end blank',
)

/** As long as a claim that names somebody may be (API 4.5). */
export const ExternalId = line(LONGEST_NAME)

/** Names another entity; whether there is one, the use case finds out. */
export const Id = z.string().min(1).max(64)

export const Roles = z.array(line(256)).max(256)

export const Pem = z.string().min(1).max(LONGEST_PEM)

const MOST_TAGS = 64

/** A flat map; also `appData`. */
export const NewTags = z
  .unknown()
  // A record would drop this one without a word.
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
