/**
 * The OpenAPI 3.1 document of an API: what its routes declare and what is told about them, with the shapes of the
 * contract. Nothing here is written twice: a route without an operation, or the other way round, is an error.
 */
import { ApiError } from '../../contract/envelope.ts'
import { CATALOGUE, type FailureCode } from '../../errors/catalogue.ts'
import {
  EXPIRATION_SECONDS_HEADER,
  EXPIRES_AT_HEADER,
  REQUEST_ID_HEADER,
  ZT_SESSION_HEADER,
} from '../../protocol/headers.ts'
import type { Access, Route } from '../route.ts'
import { CODES_OF_ANY_ADDRESS, codesOf } from './codes.ts'
import { NAMED_SHAPES } from './names.ts'
import type {
  OpenApiDocument,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
} from './openapi.ts'
import { isShape, type Operation, type Operations } from './operation.ts'
import { createSchemaWriter, type JsonSchema, type SchemaWriter } from './schemas.ts'

export interface DescribedApi {
  readonly title: string
  readonly description: string
  /** What every path of it begins with. */
  readonly prefix: string
  readonly operations: Operations
}

/** `answers`: see `createSchemaWriter`. */
export function openApiDocument(
  api: DescribedApi,
  routes: readonly Route[],
  { version, answers }: { readonly version: string; readonly answers: 'open' | 'closed' },
): OpenApiDocument {
  const schemas = createSchemaWriter(NAMED_SHAPES, answers)
  const failure = schemas.ofReply(ApiError)
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  const untold = new Set(Object.keys(api.operations))
  for (const route of routes.filter(({ url }) => url.startsWith(`${api.prefix}/`))) {
    const path = route.url.slice(api.prefix.length)
    const name = `${route.method} ${path}`
    const operation = api.operations[name]
    if (operation === undefined) throw new Error(`the route ${name} is not described`)
    untold.delete(name)
    const template = path.replace(/:(\w+)/g, '{$1}')
    paths[template] ??= {}
    paths[template][route.method.toLowerCase()] = describe(path, route, operation, schemas, failure)
  }
  const [forgotten] = untold
  if (forgotten !== undefined) throw new Error(`the operation ${forgotten} has no route`)
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
  route: Route,
  operation: Operation,
  schemas: SchemaWriter,
  failure: JsonSchema,
): OpenApiOperation {
  const { summary, description } = operation
  const body = requestBody(route, operation, schemas)
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
      ...success(route, operation, schemas),
      ...refusals(route, operation, failure),
      default: {
        description: `Any other failure: ${listed(CODES_OF_ANY_ADDRESS)}.`,
        content: { 'application/json': { schema: failure } },
      },
    },
  }
}

function parametersOf(path: string, operation: Operation): readonly OpenApiParameter[] {
  const schema = { type: 'string' }
  const optional = (
    place: 'query' | 'header',
    names: Readonly<Record<string, string>> | undefined,
  ) =>
    Object.entries(names ?? {}).map(([name, description]) => ({
      name,
      in: place,
      required: false,
      description,
      schema,
    }))
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    required: true,
    description: operation.path?.[name] ?? 'The id of the entity.',
    schema,
  }))
  return [
    ...inPath,
    ...(operation.isList === true ? LIST_PARAMETERS : []),
    ...optional('query', operation.query),
    ...optional('header', operation.headers),
  ]
}

/** API 2. */
const LIST_PARAMETERS: readonly OpenApiParameter[] = [
  {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'How many rows; more than 500 count as 500.',
    schema: { type: 'integer', minimum: 1, default: 10 },
  },
  {
    name: 'offset',
    in: 'query',
    required: false,
    description: 'How many rows to skip.',
    schema: { type: 'integer', minimum: 0, default: 0 },
  },
  {
    name: 'sort',
    in: 'query',
    required: false,
    description: 'Up to five of `filterableFields`, each with `asc` or `desc`, joined by commas.',
    schema: { type: 'string', examples: ['createdAt desc, id'] },
  },
  {
    name: 'filter',
    in: 'query',
    required: false,
    description:
      'Which rows: comparisons of `filterableFields` with `and`, `or`, `not` and parentheses; docs/lists.md.',
    schema: { type: 'string' },
  },
]

function requestBody(
  { method, reads }: Route,
  { request, mayOmit, text }: Operation,
  schemas: SchemaWriter,
): OpenApiOperation['requestBody'] {
  if (request === undefined && text === undefined) return undefined
  const written =
    request && (method === 'PATCH' ? schemas.ofPatch(request) : schemas.ofRequest(request, mayOmit))
  const content = reads.flatMap((kind) => {
    const schema = kind === 'json' || kind === 'form' ? written : { type: 'string' }
    return BODY_TYPES[kind].map((type) => [type, { schema }])
  })
  // D-11: an empty body counts as `{}`, which is good where nothing is required.
  const mayBeEmpty = method === 'PATCH' || request?.safeParse({}).success === true
  return {
    required: !mayBeEmpty,
    ...(text === undefined ? {} : { description: text }),
    content: Object.fromEntries(content),
  }
}

const BODY_TYPES: Readonly<Record<Route['reads'][number], readonly string[]>> = {
  json: ['application/json'],
  form: ['application/x-www-form-urlencoded'],
  text: ['text/plain'],
  pem: ['application/x-pem-file', 'application/pkcs10'],
}

function success(
  { replies, access }: Route,
  { reply, replyHeaders = [] }: Operation,
  schemas: SchemaWriter,
): Record<string, OpenApiResponse> {
  const status = replies.find((one) => one < 300)
  const isAuthenticated = access !== 'public' && access !== 'login' && access !== 'router'
  const expiry = isAuthenticated ? [EXPIRATION_SECONDS_HEADER, EXPIRES_AT_HEADER] : []
  const content = isShape(reply)
    ? { 'application/json': { schema: schemas.ofReply(reply) } }
    : Object.fromEntries(reply.types.map((type) => [type, {}]))
  return {
    [String(status)]: {
      description: isShape(reply) ? 'Success.' : reply.about,
      headers: headersOf([...replyHeaders, ...expiry, REQUEST_ID_HEADER]),
      content,
    },
    ...(replies.includes(304)
      ? {
          304: {
            description: 'It is the one that `If-None-Match` names.',
            headers: headersOf([REQUEST_ID_HEADER]),
          },
        }
      : {}),
  }
}

function refusals(
  route: Route,
  operation: Operation,
  failure: JsonSchema,
): Record<string, OpenApiResponse> {
  const byStatus = Map.groupBy(codesOf(route, operation), (code) => CATALOGUE[code].status)
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
  [EXPIRATION_SECONDS_HEADER]: 'Whole seconds until the session ends.',
  [EXPIRES_AT_HEADER]: 'The moment at which the session ends, in RFC 3339.',
  [REQUEST_ID_HEADER]: 'Names this request, in the log and in the audit events.',
  [ZT_SESSION_HEADER]: 'The token of the session, for later calls.',
  'Retry-After': 'Seconds to wait, where that helps.',
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
