/** Fields that all or most entities have: API 1. */
import type { Fields } from './field.ts'

/** Filterable, and visible to administrators. */
export const LISTED = { isListed: true, shownTo: 'administrator' } as const
/** The same, and set by administrators. */
export const CHOSEN = { ...LISTED, isWritable: true } as const
/** Also visible to the identity that it belongs to. */
export const OWN_LISTED = { isListed: true, shownTo: 'self' } as const
export const OWN_CHOSEN = { ...OWN_LISTED, isWritable: true } as const

export const CREATED_AND_UPDATED = {
  createdAt: { type: 'time', ...OWN_LISTED },
  updatedAt: { type: 'time', ...OWN_LISTED },
} as const satisfies Fields

export const NAME = { type: 'text', ...OWN_CHOSEN, title: 'NAME' } as const

/** Lists can be filtered by each tag: `tags.floor = 3`. */
export const TAGS = {
  type: 'map',
  ...OWN_CHOSEN,
  option: {
    name: 'tag',
    canClear: true,
    what: 'a tag; KEY:=3 for a number or boolean; repeatable, replaces all',
  },
} as const
