/** The field that every entity has: API 1. */
import type { Field } from '../fields.ts'

export const TAGS: Field = {
  option: 'tag',
  path: 'tags',
  kind: 'pairs',
  canClear: true,
  what: 'a tag, KEY:=3 for a number or a truth; repeat it. All tags are replaced',
}

export const NAME: Field = {
  option: 'name',
  path: 'name',
  kind: 'text',
  value: 'NAME',
  what: 'another name',
}
