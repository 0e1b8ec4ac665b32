/** The error codes of a call: the ones it declares, and those that follow from its route. */
import type { FailureCode } from '../../errors/catalogue.ts'
import type { Access, Operation, Route } from '../route.ts'

/** Returns every code that an API route may return, besides those of any address (docs/errors.md). */
export function codesOf(
  route: Pick<Route, 'url' | 'access' | 'reads'> & { readonly operation: Operation },
): readonly FailureCode[] {
  const { operation } = route
  const isEntity = /:/.test(route.url)
  return [
    ...new Set<FailureCode>([
      ...CODES_OF_ACCESS[route.access],
      ...(route.reads.length > 0 ? CODES_OF_BODIES : []),
      ...(operation.list !== undefined ? CODES_OF_LISTS : []),
      ...(operation.query === undefined ? [] : (['COULD_NOT_VALIDATE'] as const)),
      ...(isEntity ? (['NOT_FOUND'] as const) : []),
      ...(operation.codes ?? []),
    ]),
  ]
}

/**
 * The errors that every route may return: malformed, with an unreadable query, too slow, too large, an internal error,
 * an unavailable database (D-250).
 */
export const CODES_OF_ANY_ADDRESS: readonly FailureCode[] = [
  'BAD_REQUEST',
  'COULD_NOT_VALIDATE',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'UNHANDLED',
  'NOT_READY',
]

/** NOT_READY: an instance that may have missed the end of a session rejects the call (D-34). */
const CODES_OF_SESSIONS = ['UNAUTHORIZED', 'NOT_READY'] as const

const CODES_OF_ACCESS: Readonly<Record<Access, readonly FailureCode[]>> = {
  public: [],
  login: [],
  session: CODES_OF_SESSIONS,
  partial: CODES_OF_SESSIONS,
  logout: CODES_OF_SESSIONS,
  admin: [...CODES_OF_SESSIONS, 'FORBIDDEN'],
  router: ['INVALID_AUTH', 'FORBIDDEN', 'NOT_READY'],
}

const CODES_OF_BODIES = [
  'COULD_NOT_PARSE_BODY',
  'COULD_NOT_VALIDATE',
  'REQUEST_ENTITY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
] as const

const CODES_OF_LISTS = ['INVALID_FILTER', 'INVALID_PAGINATION', 'INVALID_SORT_IDENTIFIER'] as const
