/**
 * The cookie that binds a login to the browser that began it, and what the fetch metadata of a request say.
 * D-10. One cookie for each auth request, so that two tabs do not disturb each other.
 */
import type { FastifyRequest } from 'fastify'
import { inSeconds } from '../../base/duration.ts'
import type { AuthRequestKey } from '../../domain/login/auth-request.ts'
import type { StepOrigin } from '../../domain/login/browser-binding.ts'
import { AUTH_REQUEST_LIFE } from '../../domain/login/start.ts'

/** `__Host-`: secure, of this host alone, for every path (R113). Lax: the way back from the client's site counts. */
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'

const cookieName = (key: AuthRequestKey) => `__Host-latchkey-${key}`

export function setCookie(key: AuthRequestKey, value: string): string {
  return `${cookieName(key)}=${value}; ${ATTRIBUTES}; Max-Age=${inSeconds(AUTH_REQUEST_LIFE)}`
}

export function clearCookie(key: AuthRequestKey): string {
  return `${cookieName(key)}=; ${ATTRIBUTES}; Max-Age=0`
}

/** Fetch metadata are sent by browsers alone, and scripts cannot take them away. */
export function hasFetchMetadata(request: FastifyRequest): boolean {
  return Object.keys(request.headers).some((name) => name.startsWith('sec-fetch-'))
}

export function stepOrigin(request: FastifyRequest, corsOrigins: readonly string[]): StepOrigin {
  const { origin } = request.headers
  const isCrossSite = request.headers['sec-fetch-site'] === 'cross-site'
  const isListed = origin !== undefined && corsOrigins.includes(origin)
  return {
    isBrowser: hasFetchMetadata(request),
    isForeignPost: request.method !== 'GET' && isCrossSite && !isListed,
    cookie: (key) => readCookie(request, cookieName(key)),
  }
}

function readCookie(request: FastifyRequest, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
