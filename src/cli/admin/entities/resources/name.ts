/** The option that renames an entity; the name of a new one is an operand. */
import type { Field } from '../fields.ts'

export const NAME: Field = {
  option: 'name',
  path: 'name',
  kind: 'text',
  value: 'NAME',
  what: 'another name',
}
