/**
 * Converts the shapes of the contract to JSON Schema 2020-12, which OpenAPI 3.1 uses. A named shape becomes a component
 * that others refer to.
 */
import { z } from 'zod'

export type JsonSchema = { [member: string]: unknown }

/** Shapes by their name in the document. */
export type NamedShapes = Readonly<Record<string, z.ZodType>>

export interface SchemaWriter {
  /** The schema of a request; without `mayOmit`, everything that the shape requires is required. */
  ofRequest(shape: z.ZodType, mayOmit?: readonly string[]): JsonSchema
  /** The schema of a patch (RFC 7396) whose result has the shape; what is in `mayOmit` stays as it is. */
  ofPatch(shape: z.ZodType, mayOmit?: readonly string[]): JsonSchema
  /** The schema of a response. */
  ofReply(shape: z.ZodType): JsonSchema
  /** Every named schema that has been referred to so far. */
  readonly components: JsonSchema
}

/**
 * `closed` response schemas allow no undeclared members: the tests use them to check our responses. `open` ones, for
 * clients, do, because responses may get new members.
 */
export function createSchemaWriter(named: NamedShapes, answers: 'open' | 'closed'): SchemaWriter {
  const names = z.registry<{ id: string }>()
  for (const [id, shape] of Object.entries(named)) names.add(shape, { id })
  const components: JsonSchema = {}

  function write(shape: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const written = z.toJSONSchema(shape, {
      io,
      metadata: names,
      override: (context) => {
        const { zodSchema, jsonSchema } = context
        readThroughUnknown(zodSchema, jsonSchema, io)
        const { description } = z.globalRegistry.get(zodSchema) ?? {}
        if (description !== undefined) jsonSchema.description = description
        const isClosed = jsonSchema.additionalProperties === false
        if (isClosed && io === 'output' && answers === 'open') {
          delete jsonSchema.additionalProperties
        }
      },
    })
    const { $schema: _, $defs = {}, ...schema } = written
    for (const [id, definition] of Object.entries($defs)) {
      const { id: _id, ...rest } = definition
      components[id] = finish(rest)
    }
    return finish(schema)

    function finish(one: JsonSchema): JsonSchema {
      const inPlace = toComponents(one) as JsonSchema
      return io === 'input' ? withNullForAbsent(inPlace) : inPlace
    }
  }

  const resolve = (schema: JsonSchema): JsonSchema =>
    (components[nameOf(schema) ?? ''] as JsonSchema | undefined) ?? schema

  return {
    ofRequest(shape, mayOmit) {
      const schema = write(shape, 'input')
      return mayOmit === undefined ? schema : withoutRequired(resolve(schema), mayOmit)
    },
    ofPatch: (shape, mayOmit = []) =>
      patchOf(withoutRequired(resolve(write(shape, 'input')), mayOmit)),
    ofReply: (shape) => write(shape, 'output'),
    components,
  }
}

/** The input side of a preprocessed value accepts anything; the actual schema is behind the pipe. */
function readThroughUnknown(
  shape: z.core.$ZodTypes,
  schema: JsonSchema,
  io: 'input' | 'output',
): void {
  const { def } = shape._zod
  if (def.type !== 'pipe' || def.in._zod.def.type !== 'unknown') return
  const { $schema: _, ...behind } = z.toJSONSchema(def.out, { io })
  Object.assign(schema, behind)
}

function toComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toComponents)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === '$ref' && typeof member === 'string'
        ? member.replace('#/$defs/', '#/components/schemas/')
        : toComponents(member),
    ]),
  )
}

/** D-309: what may be absent may be null. */
function withNullForAbsent(schema: JsonSchema): JsonSchema {
  const { properties, required = [], ...rest } = schema
  for (const name of ['anyOf', 'oneOf', 'allOf']) {
    const parts = rest[name] as readonly JsonSchema[] | undefined
    if (parts !== undefined) rest[name] = parts.map(withNullForAbsent)
  }
  if (properties === undefined) return 'required' in schema ? { ...rest, required } : rest
  const members = Object.entries(properties as Record<string, JsonSchema>).map(([name, member]) => {
    const written = withNullForAbsent(member)
    return [name, (required as readonly string[]).includes(name) ? written : orNull(written)]
  })
  const named = { ...rest, properties: Object.fromEntries(members) }
  return 'required' in schema ? { ...named, required } : named
}

function withoutRequired(schema: JsonSchema, mayOmit: readonly string[]): JsonSchema {
  const alternatives = alternativesOf(schema)
  if (alternatives !== undefined) {
    return { anyOf: alternatives.map((one) => withoutRequired(one, mayOmit)) }
  }
  const required = (schema['required'] ?? []) as readonly string[]
  return { ...schema, required: required.filter((name) => !mayOmit.includes(name)) }
}

/** Nothing has to be there, null clears what the result may lack (D-309), and nested objects are patched too. */
function patchOf(schema: JsonSchema): JsonSchema {
  const alternatives = alternativesOf(schema)
  if (alternatives !== undefined) return { anyOf: alternatives.map(patchOf) }
  if (schema['properties'] === undefined) return schema
  const { required = [], properties, ...rest } = schema
  const patched = Object.entries(properties as Record<string, JsonSchema>).map(
    ([name, { default: _, ...property }]) => {
      const written = patchOf(property)
      return [name, (required as readonly string[]).includes(name) ? written : orNull(written)]
    },
  )
  return { ...rest, properties: Object.fromEntries(patched) }
}

function orNull(schema: JsonSchema): JsonSchema {
  const alternatives = alternativesOf(schema) ?? [schema]
  // An empty schema allows everything.
  const isThere = alternatives.some(
    ({ type, ...rest }) => type === 'null' || isAnything(type, rest),
  )
  return isThere ? schema : { anyOf: [...alternatives, { type: 'null' }] }
}

function isAnything(type: unknown, { description: _, default: __, ...rest }: JsonSchema): boolean {
  return type === undefined && Object.keys(rest).length === 0
}

/** Returns the name of the component that the schema refers to. */
export function nameOf(schema: JsonSchema): string | undefined {
  const target = schema['$ref']
  return typeof target === 'string' ? target.split('/').at(-1) : undefined
}

export function alternativesOf(schema: JsonSchema): readonly JsonSchema[] | undefined {
  return (schema['anyOf'] ?? schema['oneOf']) as readonly JsonSchema[] | undefined
}
