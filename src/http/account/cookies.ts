/**
 * The cookies of the account pages: the sealed session, the logins that are under way, and what the next page has to say.
 * D-161, R113. Lax and not Strict: a person may come back from the site of an IdP, or follow a link. What changes
 * something is a POST, which Lax keeps from other sites.
 */
import { inSeconds } from '../../base/time/duration.ts'
import { isAccountState } from '../../domain/account/login.ts'
import { AUTH_REQUEST_LIFE } from '../../domain/login/start.ts'
import { NOTES, type Note } from '../../web/account/texts.ts'
import { cookieOf, cookiesWith } from '../reading/cookies.ts'
import type { RequestHead } from '../reading/header-fields.ts'

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'

const SESSION = '__Host-latchkey-account'
const NOTE = '__Host-latchkey-account-note'

/** One for each login, so that two tabs do not disturb each other. */
const loginName = (state: string) => `__Host-latchkey-account-login-${state}`

/** The next page is shown at once, or never. */
const NOTE_SECONDS = 60

export const sessionCookie = (head: RequestHead) => cookieOf(head, SESSION)
export const loginCookie = (head: RequestHead, state: string) => cookieOf(head, loginName(state))

export function noteCookie(head: RequestHead): Note | undefined {
  const value = cookieOf(head, NOTE) ?? ''
  return Object.hasOwn(NOTES, value) ? (value as Note) : undefined
}

/** Browsers send the oldest first (RFC 6265 §5.4), and D-181 lets so many wait, with the one that begins now. */
const MOST_LOGINS = 8

/** Takes away the oldest logins that nobody has finished, when another one begins. */
export function clearOldLogins(head: RequestHead): readonly string[] {
  const states = Array.from(cookiesWith(head, loginName('')), (rest) => rest.split('=', 1)[0] ?? '')
    // Nothing but what we have written ourselves is written again.
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
