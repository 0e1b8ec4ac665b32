/**
 * The cookies of the account pages: the sealed session, the logins in progress, and the notice for the next page.
 * D-161, R113. Lax and not Strict, because a user may return from the site of an IdP, or follow a link. Every change is
 * a POST, and browsers send no Lax cookie with a POST from another site.
 */
import { inSeconds } from '../../base/time/duration.ts'
import { isAccountState } from '../../domain/account/login.ts'
import { AUTH_REQUEST_LIFE } from '../../domain/login/start.ts'
import { isNote, type Note } from '../../web/account/notes.ts'
import { cookieOf, cookiesWith } from '../reading/cookies.ts'
import type { RequestHead } from '../reading/header-fields.ts'

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'

const SESSION = '__Host-latchkey-account'
const NOTE = '__Host-latchkey-account-note'

/** One for each login, so that two tabs do not interfere. */
const loginName = (state: string) => `__Host-latchkey-account-login-${state}`

/** The next page is shown immediately, or never. */
const NOTE_SECONDS = 60

export const sessionCookie = (head: RequestHead) => cookieOf(head, SESSION)
export const loginCookie = (head: RequestHead, state: string) => cookieOf(head, loginName(state))

export function noteCookie(head: RequestHead): Note | undefined {
  const value = cookieOf(head, NOTE) ?? ''
  return isNote(value) ? value : undefined
}

/** Browsers send the oldest first (RFC 6265 §5.4). D-181 allows this many logins in progress, including the new one. */
const MOST_LOGINS = 8

/** Deletes the oldest unfinished logins when another one starts. */
export function clearOldLogins(head: RequestHead): readonly string[] {
  const states = Array.from(cookiesWith(head, loginName('')), (rest) => rest.split('=', 1)[0] ?? '')
    // Only write back names that we wrote ourselves.
    .filter(isAccountState)
  return states.slice(0, Math.max(0, states.length + 1 - MOST_LOGINS)).map(clearLogin)
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
