/** Converts an OpenAPI document to the content of its reference page. */
import type {
  Reference,
  ReferenceBody,
  ReferenceCall,
  ReferenceField,
} from '../../web/reference/reference-page.ts'
import type { Access } from '../route.ts'
import type { Content, OpenApiDocument, OpenApiOperation } from './openapi.ts'
import { alternativesOf, type JsonSchema, nameOf } from './schemas.ts'

type Shapes = Readonly<Record<string, JsonSchema>>
type Type = ReferenceField['type']

export function referenceOf(document: OpenApiDocument): Reference {
  const shapes = document.components.schemas
  const calls = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      group: operation.tags[0] ?? '',
      call: callOf(method.toUpperCase(), path, operation, shapes),
    })),
  )
  const groups = Map.groupBy(calls, ({ group }) => group)
  return {
    ...document.info,
    prefix: document.servers[0]?.url ?? '',
    groups: [...groups].map(([name, own]) => ({ name, calls: own.map(({ call }) => call) })),
    shapes: Object.entries(shapes)
      .filter(([, schema]) => hasFields(schema))
      .map(([name, schema]) => ({ name, fields: fieldsOf(schema, shapes) })),
  }
}

function callOf(
  method: string,
  path: string,
  operation: OpenApiOperation,
  shapes: Shapes,
): ReferenceCall {
  const { summary, description, parameters, requestBody, responses } = operation
  const answers = Object.entries(responses)
  return {
    method,
    path,
    summary,
    description,
    who: WHO[operation['x-access']],
    parameters: parameters.map((parameter) => ({
      name: parameter.name,
      type: [`${parameter.in},`, ...typeOf(parameter.schema, shapes)],
      isRequired: parameter.required,
      about: parameter.description,
    })),
    request: requestBody && bodyOf(requestBody.content, shapes),
    answers: answers
      .filter(([status]) => status.startsWith('2'))
      .map(([status, { description: about, content = {} }]) => ({
        status,
        about,
        ...bodyOf(content, shapes),
      })),
    refusals: answers
      .filter(([status]) => !status.startsWith('2'))
      .map(([status, { description: about }]) => ({
        status: status === 'default' ? 'other' : status,
        about,
      })),
  }
}

const WHO: Readonly<Record<Access, string>> = {
  public: 'Any caller may use it.',
  login: 'Any caller may use it, and authenticates with the credentials in the request.',
  session: 'Needs a session: an access token as bearer, or a zt-session.',
  partial: 'Needs a session; one that still needs its TOTP code is enough.',
  logout: 'Needs a session; second factors are not required.',
  admin: "Needs an administrator's session.",
  router: "Needs the certificate of a router's identity on the connection.",
}

function bodyOf(content: Content, shapes: Shapes): ReferenceBody {
  const [first] = Object.values(content)
  const schema: JsonSchema = first !== undefined && 'schema' in first ? first.schema : {}
  const shape = shapeOf(schema, shapes)
  const fields = shape === undefined ? fieldsOf(schema, shapes) : []
  return { types: Object.keys(content), shape, fields }
}

/** Returns the fields of an object; those of nested objects have their full path. */
function fieldsOf(schema: JsonSchema, shapes: Shapes, way = ''): readonly ReferenceField[] {
  const alternatives = alternativesOf(schema)
  if (alternatives !== undefined) {
    return merged(alternatives.map((one) => fieldsOf(one, shapes, way)))
  }
  const properties = (schema['properties'] ?? {}) as Shapes
  const required = (schema['required'] ?? []) as readonly string[]
  return Object.entries(properties).flatMap(([name, property]) => {
    const path = `${way}${name}`
    const field: ReferenceField = {
      name: path,
      type: typeOf(property, shapes),
      isRequired: required.includes(name),
      about: property['description'] as string | undefined,
    }
    const items = property['type'] === 'array' ? (property['items'] as JsonSchema) : undefined
    const inner = fieldsOf(items ?? property, shapes, `${path}${items === undefined ? '' : '[]'}.`)
    return [field, ...inner]
  })
}

/** Merges alternatives: each field is listed once, and is required if all of them require it. */
function merged(alternatives: readonly (readonly ReferenceField[])[]): readonly ReferenceField[] {
  const objects = alternatives.filter((fields) => fields.length > 0)
  const byName = Map.groupBy(objects.flat(), ({ name }) => name)
  return [...byName.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const same = [first, ...others]
    const isRequired = same.length === objects.length && same.every((one) => one.isRequired)
    return [{ ...first, type: either(same.map(({ type }) => type)), isRequired }]
  })
}

/** Returns the name of a schema if it has fields to show; other schemas are described inline. */
function shapeOf(schema: JsonSchema, shapes: Shapes): string | undefined {
  const name = nameOf(schema)
  return name !== undefined && hasFields(shapes[name] ?? {}) ? name : undefined
}

function hasFields(schema: JsonSchema): boolean {
  return schema['properties'] !== undefined || alternativesOf(schema) !== undefined
}

function typeOf(schema: JsonSchema, shapes: Shapes): Type {
  const shape = shapeOf(schema, shapes)
  if (shape !== undefined) return [{ shape }]
  const name = nameOf(schema)
  if (name !== undefined) return typeOf(shapes[name] ?? {}, shapes)
  const alternatives = alternativesOf(schema)
  if (alternatives !== undefined) return either(alternatives.map((one) => typeOf(one, shapes)))
  const { type, format, items } = schema
  if (schema['const'] !== undefined) return [String(schema['const'])]
  if (Array.isArray(schema['enum'])) return [schema['enum'].join(', ')]
  if (Array.isArray(type)) return [type.map(word).join(' or ')]
  if (type === 'array') return ['list of', ...typeOf((items ?? {}) as JsonSchema, shapes)]
  if (format === 'date-time') return ['time']
  return [typeof type === 'string' ? word(type) : 'anything']
}

function either(types: readonly Type[]): Type {
  const different = [...new Map(types.map((type) => [JSON.stringify(type), type])).values()]
  return different.flatMap((type, i) => (i > 0 ? ['or', ...type] : type))
}

function word(type: string): string {
  return WORDS[type] ?? type
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
}
