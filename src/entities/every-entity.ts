/** Fields that every entity has, or most of them: API 1. */
import type { Fields } from './field.ts'

const TIME = { type: 'time', isListed: true, shownTo: 'self' } as const

export const CREATED_AND_UPDATED = {
  createdAt: TIME,
  updatedAt: TIME,
} as const satisfies Fields

export const NAME = {
  type: 'text',
  isListed: true,
  isWritable: true,
  shownTo: 'self',
  title: 'NAME',
} as const

/** Lists filter by each tag: `tags.floor = 3`. */
export const TAGS = {
  type: 'map',
  isListed: true,
  isWritable: true,
  shownTo: 'self',
  option: {
    name: 'tag',
    canClear: true,
    what: 'a tag, KEY:=3 for a number or a truth; repeat it. All tags are replaced',
  },
} as const
