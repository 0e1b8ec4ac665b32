/** The shape of a response, derived from the description of its entity (entities/). */
import { z } from 'zod'
import type { Field, Fields, SelfName, ShownName, ValueOf } from '../entities/field.ts'
import { Links, Reference, Tags, Timestamp } from './envelope.ts'

const TextMap = z.record(z.string(), z.string())
const AnyMap = z.record(z.string(), z.unknown())

/** A field in JSON: times are text, missing values are null. */
export type JsonOf<F extends Field> = F extends { isOptional: true } ? Given<F> | null : Given<F>

type Given<F extends Field> = F extends { choices: readonly string[] }
  ? ValueOf<F>
  : Json[F['type']]

interface Json {
  text: string
  number: number
  boolean: boolean
  time: string
  texts: string[]
  map: z.infer<typeof Tags>
  'text-map': z.infer<typeof TextMap>
  'any-map': z.infer<typeof AnyMap>
  reference: z.infer<typeof Reference>
}

type ShapeOf<F extends Fields, Name extends keyof F> = {
  [N in Name]: z.ZodType<JsonOf<F[N]>>
} & { _links: typeof Links }

/** What callers see of their own entity. */
export function ownShape<F extends Fields>(fields: F): z.ZodObject<ShapeOf<F, SelfName<F>>> {
  return z.object(shapeOf(fields, ({ shownTo }) => shownTo === 'self')) as never
}

/** What administrators see. */
export function managedShape<F extends Fields>(fields: F): z.ZodObject<ShapeOf<F, ShownName<F>>> {
  return z.object(shapeOf(fields, ({ shownTo }) => shownTo !== undefined)) as never
}

function shapeOf(fields: Fields, isShown: (field: Field) => boolean) {
  const shown = Object.entries(fields).filter(([, field]) => isShown(field))
  const shape = Object.fromEntries(shown.map(([name, field]) => [name, typeOf(field)]))
  return { ...shape, _links: Links }
}

function typeOf(field: Field): z.ZodType {
  const type = field.isOptional === true ? givenType(field).nullable() : givenType(field)
  return field.description === undefined ? type : type.describe(field.description)
}

function givenType({ type, choices }: Field): z.ZodType {
  switch (type) {
    case 'text':
      return choices === undefined ? z.string() : z.enum(choices)
    case 'number':
      return z.int()
    case 'boolean':
      return z.boolean()
    case 'time':
      return Timestamp
    case 'texts':
      return z.array(z.string())
    case 'map':
      return Tags
    case 'text-map':
      return TextMap
    case 'any-map':
      return AnyMap
    case 'reference':
      return Reference
  }
}
