/** Fields that every entity has, or most of them: API 1. */
import type { Fields } from './field.ts'

/** Lists filter by it, and administrators see it. */
export const LISTED = { isListed: true, shownTo: 'administrator' } as const
/** The same, and an administrator chooses it. */
export const CHOSEN = { ...LISTED, isWritable: true } as const
/** Also for the identity that it belongs to. */
export const OWN_LISTED = { isListed: true, shownTo: 'self' } as const
export const OWN_CHOSEN = { ...OWN_LISTED, isWritable: true } as const

export const CREATED_AND_UPDATED = {
  createdAt: { type: 'time', ...OWN_LISTED },
  updatedAt: { type: 'time', ...OWN_LISTED },
} as const satisfies Fields

export const NAME = { type: 'text', ...OWN_CHOSEN, title: 'NAME' } as const

/** Lists filter by each tag: `tags.floor = 3`. */
export const TAGS = {
  type: 'map',
  ...OWN_CHOSEN,
  option: {
    name: 'tag',
    canClear: true,
    what: 'a tag, KEY:=3 for a number or a truth; repeat it. All tags are replaced',
  },
} as const
