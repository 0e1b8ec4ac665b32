/** The stored fields of an entity as JSON, from its description (entities/): times are strings, missing is null. */
import { type Instant, toRfc3339 } from '../../base/time/instant.ts'
import type { JsonOf } from '../../contract/described.ts'
import type {
  EntityOf,
  Field,
  Fields,
  SelfName,
  ShownName,
  StoredName,
  WritableName,
} from '../../entities/field.ts'

type BodyOf<F extends Fields, Name extends keyof F> = {
  [N in Name & StoredName<F>]: JsonOf<F[N]>
}

/** What callers see of their own entity. */
export function ownFields<F extends Fields>(fields: F, entity: EntityOf<F>) {
  return bodyOf(fields, entity, isOwn) as BodyOf<F, SelfName<F>>
}

/** What administrators see. */
export function managedFields<F extends Fields>(fields: F, entity: EntityOf<F>) {
  return bodyOf(fields, entity, isShown) as BodyOf<F, ShownName<F>>
}

/** What administrators can set: the body that would create the entity. */
export function chosenFields<F extends Fields>(fields: F, entity: EntityOf<F>) {
  return bodyOf(fields, entity, isWritable) as BodyOf<F, WritableName<F>>
}

type Choice = (field: Field) => boolean

const isOwn: Choice = ({ shownTo }) => shownTo === 'self'
const isShown: Choice = ({ shownTo }) => shownTo !== undefined
const isWritable: Choice = (field) => field.isWritable === true

function bodyOf(fields: Fields, entity: Readonly<Record<string, unknown>>, choice: Choice): object {
  const body: Record<string, unknown> = {}
  for (const [name, type] of chosen(fields, choice)) body[name] = jsonOf(type, entity[name])
  return body
}

type Chosen = readonly (readonly [name: string, type: Field['type']])[]

const remembered = new WeakMap<Fields, Map<Choice, Chosen>>()

/** Found once for each description: it is the same in every response. */
function chosen(fields: Fields, choice: Choice): Chosen {
  const lists = remembered.get(fields) ?? new Map<Choice, Chosen>()
  remembered.set(fields, lists)
  let list = lists.get(choice)
  if (list === undefined) {
    list = Object.entries(fields)
      .filter(([, field]) => field.isComputed !== true && choice(field))
      .map(([name, { type }]) => [name, type] as const)
    lists.set(choice, list)
  }
  return list
}

function jsonOf(type: Field['type'], value: unknown): unknown {
  if (value === undefined) return null
  return type === 'time' ? toRfc3339(value as Instant) : value
}
