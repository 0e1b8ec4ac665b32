/**
 * The cookies of the account pages: the sealed session, the logins that are under way, and what the next page has to say.
 * D-161, R113. Lax and not Strict: a person may come back from the site of an IdP, or follow a link. What changes
 * something is a POST, which Lax keeps from other sites.
 */
import type { FastifyRequest } from 'fastify'
import { inSeconds } from '../../base/duration.ts'
import { AUTH_REQUEST_LIFE } from '../../domain/login/start.ts'
import { NOTES, type Note } from '../../web/account/texts.ts'

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'

const SESSION = '__Host-latchkey-account'
const NOTE = '__Host-latchkey-account-note'

/** One for each login, so that two tabs do not disturb each other. */
const loginName = (state: string) => `__Host-latchkey-account-login-${state}`

/** The next page is shown at once, or never. */
const NOTE_SECONDS = 60

export const sessionCookie = (request: FastifyRequest) => readCookie(request, SESSION)
export const loginCookie = (request: FastifyRequest, state: string) =>
  readCookie(request, loginName(state))

export function noteCookie(request: FastifyRequest): Note | undefined {
  const value = readCookie(request, NOTE) ?? ''
  return Object.hasOwn(NOTES, value) ? (value as Note) : undefined
}

export const keepSession = (sealed: string, seconds: number) => kept(SESSION, sealed, seconds)
export const keepLogin = (state: string, sealed: string) =>
  kept(loginName(state), sealed, inSeconds(AUTH_REQUEST_LIFE))
export const keepNote = (note: Note) => kept(NOTE, note, NOTE_SECONDS)

export const clearSession = () => kept(SESSION, '', 0)
export const clearLogin = (state: string) => kept(loginName(state), '', 0)
export const clearNote = () => kept(NOTE, '', 0)

function kept(name: string, value: string, seconds: number): string {
  return `${name}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}`
}

function readCookie(request: FastifyRequest, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
