/** Builds the OpenAPI 3.1 document of an API from its routes and the shapes of the contract. */
import { ApiError } from '../../contract/envelope.ts'
import type { ListFields } from '../../domain/lists/list-query.ts'
import { CATALOGUE, type FailureCode } from '../../errors/catalogue.ts'
import {
  ENDING_HEADER,
  EXPIRATION_SECONDS_HEADER,
  EXPIRES_AT_HEADER,
  REQUEST_ID_HEADER,
  ZT_SESSION_HEADER,
} from '../../protocol/headers.ts'
import { BODY_TYPES } from '../reading/body.ts'
import { type Access, isShape, type Operation, type Route } from '../route.ts'
import { CODES_OF_ANY_ADDRESS, codesOf } from './codes.ts'
import { NAMED_SHAPES } from './names.ts'
import type {
  OpenApiDocument,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
} from './openapi.ts'
import { createSchemaWriter, type JsonSchema, type SchemaWriter } from './schemas.ts'

export interface DescribedApi {
  readonly title: string
  readonly description: string
  /** The prefix of every path. */
  readonly prefix: string
}

type Described = Route & { readonly operation: Operation }

/** `answers`: see `createSchemaWriter`. */
export function openApiDocument(
  api: DescribedApi,
  routes: readonly Route[],
  { version, answers }: { readonly version: string; readonly answers: 'open' | 'closed' },
): OpenApiDocument {
  const schemas = createSchemaWriter(NAMED_SHAPES, answers)
  const failure = schemas.ofReply(ApiError)
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const route of routes.filter(({ url }) => url.startsWith(`${api.prefix}/`))) {
    const path = route.url.slice(api.prefix.length)
    const { operation } = route
    if (operation === undefined)
      throw new Error(`the route ${route.method} ${path} is not described`)
    const template = path.replace(/:(\w+)/g, '{$1}')
    paths[template] ??= {}
    paths[template][route.method.toLowerCase()] = describe(
      path,
      { ...route, operation },
      schemas,
      failure,
    )
  }
  return {
    openapi: '3.1.1',
    info: { title: api.title, version, description: api.description },
    servers: [{ url: api.prefix }],
    paths: sorted(paths),
    components: {
      schemas: sorted(schemas.components) as Record<string, JsonSchema>,
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, description]) => [
          name,
          { description, schema: { type: 'string' } },
        ]),
      ),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

function describe(
  path: string,
  route: Described,
  schemas: SchemaWriter,
  failure: JsonSchema,
): OpenApiOperation {
  const { operation } = route
  const { summary, description } = operation
  const body = requestBody(route, schemas)
  return {
    operationId: `${route.method.toLowerCase()}${path}`.replaceAll(/\W+/g, '-'),
    tags: [operation.tag ?? path.split('/')[1] ?? ''],
    summary,
    ...(description === undefined ? {} : { description }),
    'x-access': route.access,
    security: SECURITY_OF_ACCESS[route.access],
    parameters: parametersOf(path, operation),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...successes(route, schemas),
      ...refusals(route, failure),
      default: {
        description: `Any other failure: ${listed(CODES_OF_ANY_ADDRESS)}.`,
        content: { 'application/json': { schema: failure } },
      },
    },
  }
}

function parametersOf(path: string, operation: Operation): readonly OpenApiParameter[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    ...parameter('path', name, 'The id of the entity.'),
    required: true,
  }))
  const optional = (place: 'query' | 'header', names: Readonly<Record<string, string>> = {}) =>
    Object.entries(names).map(([name, description]) => parameter(place, name, description))
  return [
    ...inPath,
    ...(operation.list === undefined
      ? []
      : [...PAGE_PARAMETERS, ...fieldParameters(operation.list)]),
    ...optional('query', operation.query),
    ...optional('header', operation.headers),
  ]
}

function parameter(
  place: OpenApiParameter['in'],
  name: string,
  description: string,
  schema: JsonSchema = { type: 'string' },
): OpenApiParameter {
  return { name, in: place, required: false, description, schema }
}

/** API 2. */
const PAGE_PARAMETERS: readonly OpenApiParameter[] = [
  parameter('query', 'limit', 'How many rows, at most 500. A larger number means 500.', {
    type: 'integer',
    minimum: 1,
    default: 10,
  }),
  parameter('query', 'offset', 'How many rows to skip.', {
    type: 'integer',
    minimum: 0,
    default: 0,
  }),
]

/** A list without fields is only available in pages. */
function fieldParameters({ fields }: ListFields): readonly OpenApiParameter[] {
  const [first] = Object.keys(fields)
  if (first === undefined) return []
  const [time] = Object.entries(fields).find(([, { type }]) => type === 'time') ?? []
  return [
    parameter(
      'query',
      'sort',
      'Up to five of `filterableFields`, each with `asc` or `desc`, joined by commas.',
      { type: 'string', examples: [time === undefined ? first : `${time} desc, id`] },
    ),
    parameter(
      'query',
      'filter',
      'Which rows: comparisons of `filterableFields` with `and`, `or`, `not` and parentheses; docs/lists.md.',
    ),
  ]
}

function requestBody(
  { method, reads, operation: { body } }: Described,
  schemas: SchemaWriter,
): OpenApiOperation['requestBody'] {
  if (body === undefined) return undefined
  const { shape } = body
  const mayOmit = body.kind === 'deferred' ? body.mayOmit : undefined
  const text = body.kind === 'fields' ? body.text : undefined
  const isPatch = method === 'PATCH' || (body.kind === 'deferred' && body.isPatch === true)
  const written =
    shape && (isPatch ? schemas.ofPatch(shape, mayOmit) : schemas.ofRequest(shape, mayOmit))
  const content = reads.flatMap((kind) => {
    const schema = kind === 'json' || kind === 'form' ? written : { type: 'string' }
    return BODY_TYPES[kind].map((type) => [type, { schema }])
  })
  // D-11: an empty body counts as `{}`, which is valid if nothing is required.
  const mayBeEmpty = isPatch || shape?.safeParse({}).success === true
  return {
    required: !mayBeEmpty,
    ...(text === undefined ? {} : { description: text }),
    content: Object.fromEntries(content),
  }
}

function successes(
  { access, method, operation }: Described,
  schemas: SchemaWriter,
): Record<string, OpenApiResponse> {
  const { answers, answerHeaders = [] } = operation
  const isAuthenticated = access !== 'public' && access !== 'login' && access !== 'router'
  const expiry = isAuthenticated ? [EXPIRATION_SECONDS_HEADER, EXPIRES_AT_HEADER] : []
  const ending = isAuthenticated && method !== 'GET' ? [ENDING_HEADER] : []
  const headers = headersOf([...answerHeaders, ...ending, ...expiry, REQUEST_ID_HEADER])
  return Object.fromEntries(
    Object.entries(answers).map(([status, content]) => {
      if (isShape(content)) {
        const schema = schemas.ofReply(content)
        const described = { 'application/json': { schema } }
        return [status, { description: 'Success.', headers, content: described }]
      }
      const { types, about: description } = content
      if (types.length === 0) return [status, { description, headers }]
      const described = Object.fromEntries(types.map((type) => [type, {}]))
      return [status, { description, headers, content: described }]
    }),
  )
}

function refusals(route: Described, failure: JsonSchema): Record<string, OpenApiResponse> {
  const byStatus = Map.groupBy(codesOf(route), (code) => CATALOGUE[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: `${listed(codes)}.`,
        headers: headersOf([...(HEADERS_OF_STATUS[status] ?? []), REQUEST_ID_HEADER]),
        content: { 'application/json': { schema: failure } },
      },
    ]),
  )
}

const HEADERS_OF_STATUS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

const HEADERS: Readonly<Record<string, string>> = {
  [ENDING_HEADER]:
    'If the call has ended something: its id, for `GET /endings/{id}`, which says who has confirmed it.',
  [EXPIRATION_SECONDS_HEADER]: 'Whole seconds until the session ends.',
  [EXPIRES_AT_HEADER]: 'The moment at which the session ends, in RFC 3339.',
  [REQUEST_ID_HEADER]: 'Names this request, in the log and in the audit events.',
  [ZT_SESSION_HEADER]: 'The token of the session, for later calls.',
  'Retry-After': 'Seconds to wait before trying again.',
  'WWW-Authenticate': 'Which credential is missing, expired or invalid.',
}

function headersOf(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function listed(codes: readonly FailureCode[]): string {
  return codes.map((code) => `\`${code}\``).join(', ')
}

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An access token of this service.' },
  ztSession: {
    type: 'apiKey',
    in: 'header',
    name: ZT_SESSION_HEADER,
    description: 'The token of a legacy session.',
  },
  certificate: { type: 'mutualTLS', description: "The certificate of a router's identity." },
}

const ANYBODY = [{}]
const SESSION = [{ bearer: [] }, { ztSession: [] }]

const SECURITY_OF_ACCESS: Readonly<Record<Access, OpenApiOperation['security']>> = {
  public: ANYBODY,
  login: ANYBODY,
  session: SESSION,
  partial: SESSION,
  logout: SESSION,
  admin: SESSION,
  router: [{ certificate: [] }],
}

function sorted<T>(members: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
