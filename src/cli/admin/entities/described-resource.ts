/** Table columns and options of an entity, from its description (entities/). */
import type { Field as Described, Fields } from '../../../entities/field.ts'
import type { Column } from './columns.ts'
import type { Field } from './fields.ts'

/** The fields with a title, in the given order; by default in the order of the description, with the name first. */
export function tableOf<F extends Fields>(
  fields: F,
  order: readonly (keyof F & string)[] = nameFirst(Object.keys(fields)),
): readonly Column[] {
  return order.flatMap((name): Column[] => {
    const { type, title } = fields[name] as Described
    if (title === undefined) return []
    if (type === 'reference') return [{ title, path: `${name}.name` }]
    return [{ title, path: name, ...(type in FORMATS ? { as: FORMATS[type] } : {}) }]
  })
}

function nameFirst(names: readonly string[]): readonly string[] {
  return names.toSorted((a, b) => Number(b === 'name') - Number(a === 'name'))
}

const FORMATS: Partial<Record<Described['type'], NonNullable<Column['as']>>> = {
  boolean: 'truth',
  time: 'time',
}

/** The fields with an option, in the order of the description. */
export function optionFields(fields: Fields): readonly Field[] {
  return Object.entries(fields).flatMap(([path, field]) => {
    const { option } = field
    if (option === undefined) return []
    const { name, what, canClear } = option
    const common = { option: name, path, what, ...(canClear === true ? { canClear } : {}) }
    return [{ ...common, ...kindOf(field, option) }]
  })
}

function kindOf({ type, choices }: Described, option: NonNullable<Described['option']>) {
  const { to, from, value = 'TEXT' } = option
  const isList = type === 'texts'
  if (to !== undefined) return { kind: isList ? 'references' : 'reference', to } as const
  if (from !== undefined) return { kind: from, value } as const
  if (choices !== undefined) return { kind: 'choice', choices } as const
  switch (type) {
    case 'boolean':
      return { kind: 'flag' } as const
    case 'number':
      return { kind: 'number', value } as const
    case 'map':
      return { kind: 'pairs' } as const
    default:
      return { kind: isList ? 'texts' : 'text', value } as const
  }
}
