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
  return bodyOf(fields, entity, ({ shownTo }) => shownTo === 'self') as BodyOf<F, SelfName<F>>
}

/** What administrators see. */
export function managedFields<F extends Fields>(fields: F, entity: EntityOf<F>) {
  return bodyOf(fields, entity, ({ shownTo }) => shownTo !== undefined) as BodyOf<F, ShownName<F>>
}

/** What administrators can set: the body that would create the entity. */
export function chosenFields<F extends Fields>(fields: F, entity: EntityOf<F>) {
  return bodyOf(fields, entity, ({ isWritable }) => isWritable === true) as BodyOf<
    F,
    WritableName<F>
  >
}

function bodyOf(
  fields: Fields,
  entity: Readonly<Record<string, unknown>>,
  isIncluded: (field: Field) => boolean,
): object {
  const included = Object.entries(fields).filter(
    ([, field]) => field.isComputed !== true && isIncluded(field),
  )
  return Object.fromEntries(included.map(([name, { type }]) => [name, jsonOf(type, entity[name])]))
}

function jsonOf(type: Field['type'], value: unknown): unknown {
  if (value === undefined) return null
  return type === 'time' ? toRfc3339(value as Instant) : value
}
