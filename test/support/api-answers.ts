/**
 * Every answer of the two APIs that a test sees is held to their OpenAPI documents: its status, its body member by
 * member, and, of a refusal, its code. An answer that does not fit makes the call of the test fail.
 */
import { AssertionError } from 'node:assert'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { CATALOGUE, type FailureCode } from '../../src/errors/catalogue.ts'
import { addBoundApis } from '../../src/http/bound-apis.ts'
import { APIS, type ApiBinding } from '../../src/http/edge-api/api.ts'
import { CODES_OF_ANY_ADDRESS, codesOf } from '../../src/http/openapi/codes.ts'
import { openApiDocument } from '../../src/http/openapi/document.ts'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import type { Route } from '../../src/http/route.ts'
import type { Router } from '../../src/http/router.ts'

const BINDINGS = Object.keys(APIS) as readonly ApiBinding[]

/** Every route that an API brings. */
export function apiRoutes(binding: ApiBinding): readonly Route[] {
  const table: Route[] = []
  const router: Router = {
    // The routes of an API are complete.
    add: (route) => void table.push(route as Route),
    close: () => undefined,
    findAddress: () => undefined,
    table,
  }
  addBoundApis(router, [{ binding }], ANYTHING, ANYTHING)
  return table.filter(({ url }) => url.startsWith(APIS[binding].prefix))
}

/** In the place of every port: routes are only collected, and nothing is called. */
// biome-ignore lint/suspicious/noExplicitAny: it stands for all of them
const ANYTHING: any = new Proxy(() => undefined, { get: () => ANYTHING, apply: () => ANYTHING })

/** The document as it is, except that answers may have no member that it does not name. */
function closedDocument(binding: ApiBinding): OpenApiDocument {
  const options = { version: '0', answers: 'closed' } as const
  return openApiDocument(APIS[binding], apiRoutes(binding), options)
}

interface Checker {
  readonly routes: readonly { readonly route: Route; readonly pattern: RegExp }[]
  readonly document: OpenApiDocument
  readonly ajv: Ajv2020
  /** By the place in the document, and by the text of the schema: most places hold one of a few schemas. */
  readonly compiled: Map<string, ValidateFunction>
}

const checkers = new Map<ApiBinding, Checker>()

function checkerOf(binding: ApiBinding): Checker {
  const known = checkers.get(binding)
  if (known !== undefined) return known
  const document = closedDocument(binding)
  // A validator runs a few hundred times at most, so that better code for it is not worth its time.
  const code = { optimize: false }
  const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false, code })
  ajv.addSchema({ ...document, $id: binding })
  const routes = apiRoutes(binding).map((route) => ({
    route,
    pattern: new RegExp(`^${route.url.replaceAll('.', '[.]').replaceAll(/:\w+/g, '[^/]+')}$`),
  }))
  const checker = { routes, document, ajv, compiled: new Map() }
  checkers.set(binding, checker)
  return checker
}

export interface SeenAnswer {
  /** What was sent as JSON, if anything was. */
  readonly sent: unknown
  readonly status: number
  readonly contentType: string | undefined
  readonly text: string
}

/** Throws when the answer is one of an API and does not fit. */
export function checkApiAnswer(method: string, url: string, answer: SeenAnswer): void {
  const { pathname } = new URL(url)
  const binding = BINDINGS.find((one) => pathname.startsWith(`${APIS[one].prefix}/`))
  if (binding === undefined || method === 'HEAD') return
  const checker = checkerOf(binding)
  // As a router does: what is written out goes before what is a parameter.
  const [found] = checker.routes
    .filter(({ route, pattern }) => route.method === method && pattern.test(pathname))
    .toSorted((a, b) => parametersIn(a.route) - parametersIn(b.route))
  if (found === undefined) return
  const where = `${method} ${found.route.url} → ${answer.status}`
  const complain = (why: string) => {
    const message = `${where} does not fit its declaration in src/http: ${why}`
    throw new AssertionError({ message })
  }
  const path = found.route.url.slice(APIS[binding].prefix.length)
  const template = path.replaceAll(/:(\w+)/g, '{$1}')
  const operation = checker.document.paths[template]?.[method.toLowerCase()]
  const isDeclared = operation?.responses[answer.status] !== undefined
  const isSuccess = answer.status < 300
  const fits = (value: unknown, ...place: readonly string[]) => {
    const schema = [...place, 'content', 'application/json', 'schema']
    const validate = validator(checker, binding, [
      'paths',
      template,
      method.toLowerCase(),
      ...schema,
    ])
    return validate === undefined || validate(value)
      ? undefined
      : checker.ajv.errorsText(validate.errors)
  }
  if (isSuccess && !isDeclared) complain('the status is not declared')
  // A request that was good fits, too: whoever reads the document could have made it.
  if (isSuccess && answer.sent !== undefined) {
    const fault = fits(answer.sent, 'requestBody')
    if (fault !== undefined) complain(`the request was taken, but ${fault}`)
  }
  if (answer.contentType?.startsWith('application/json') !== true) {
    const types = Object.keys(operation?.responses[answer.status]?.content ?? {})
    const given = answer.contentType?.split(';')[0] ?? ''
    if (isSuccess && !types.includes(given)) complain(`the type ${given} is not declared`)
    return
  }
  const status = isDeclared ? String(answer.status) : 'default'
  const body: unknown = JSON.parse(answer.text)
  const fault = fits(body, 'responses', status)
  if (fault !== undefined) complain(fault)
  if (isSuccess) return
  const { code, next } = (body as { error: { code: string; next: string } }).error
  const { route } = found
  const { operation: declared } = route
  const codes = declared === undefined ? [] : codesOf({ ...route, operation: declared })
  const expected: readonly string[] = [...codes, ...CODES_OF_ANY_ADDRESS, 'NOT_FOUND']
  if (!expected.includes(code)) complain(`the code ${code} is not declared`)
  const actions: readonly string[] = CATALOGUE[code as FailureCode].next
  if (!actions.includes(next)) complain(`the code ${code} has no next action ${next}`)
}

function parametersIn({ url }: Route): number {
  return url.split(':').length
}

function validator(
  { document, ajv, compiled }: Checker,
  binding: ApiBinding,
  place: readonly string[],
): ValidateFunction | undefined {
  const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
  const known = compiled.get(pointer)
  if (known !== undefined) return known
  const schema = place.reduce<unknown>((at, part) => Reflect.get(at ?? {}, part), document)
  if (schema === undefined) return undefined
  const text = JSON.stringify(schema)
  const made = compiled.get(text) ?? ajv.compile({ $ref: `${binding}#/${encodeURI(pointer)}` })
  compiled.set(pointer, made).set(text, made)
  return made
}
