/**
 * The cookies of our own pages: the sealed session, the logins in progress, and the notice for the next page. Each site
 * has cookies of its own. D-161, D-355, R113. Lax and not Strict, because a user may return from the site of an IdP, or
 * follow a link. Every change is a POST, and browsers send no Lax cookie with a POST from another site.
 */
import { inSeconds } from '../../base/time/duration.ts'
import { isAccountState } from '../../domain/account/login.ts'
import type { OwnSite } from '../../domain/account/session.ts'
import { AUTH_REQUEST_LIFE } from '../../domain/login/start.ts'
import { hostCookie } from '../answer.ts'
import { cookieOf, cookiesWith } from '../reading/cookies.ts'
import type { RequestHead } from '../reading/header-fields.ts'

/** The next page is shown immediately, or never. */
const NOTE_SECONDS = 60

/** Browsers send the oldest first (RFC 6265 §5.4). D-181 allows this many logins in progress, including the new one. */
const MOST_LOGINS = 8

export interface SiteCookies {
  session(head: RequestHead): string | undefined
  login(head: RequestHead, state: string): string | undefined
  /** Anything that the browser sent; the site decides which notes it has. */
  note(head: RequestHead): string | undefined
  keepSession(sealed: string, seconds: number): string
  keepLogin(state: string, sealed: string): string
  keepNote(note: string): string
  /** The id of what the last form ended, for the next page (D-363). */
  ending(head: RequestHead): string | undefined
  keepEnding(id: string): string
  clearEnding(): string
  /** What was typed into a form that needs a fresh login first, sealed (D-481). */
  input(head: RequestHead): string | undefined
  keepInput(sealed: string): string
  clearInput(): string
  clearSession(): string
  clearLogin(state: string): string
  clearNote(): string
  /** Deletes the oldest unfinished logins when another one starts. */
  clearOldLogins(head: RequestHead): readonly string[]
}

export function siteCookies(site: OwnSite): SiteCookies {
  // The name without `-page` is that of known devices (D-216), which must outlive this session.
  const session = `__Host-latchkey-${site === 'device' ? 'device-page' : site}`
  const note = `${session}-note`
  const ending = `${session}-ending`
  const input = `${session}-input`
  /** One for each login, so that two tabs do not interfere. */
  const loginName = (state: string) => `${session}-login-${state}`
  const clearLogin = (state: string) => hostCookie(loginName(state), '', 0)
  return {
    session: (head) => cookieOf(head, session),
    login: (head, state) => cookieOf(head, loginName(state)),
    note: (head) => cookieOf(head, note),
    keepSession: (sealed, seconds) => hostCookie(session, sealed, seconds),
    keepLogin: (state, sealed) =>
      hostCookie(loginName(state), sealed, inSeconds(AUTH_REQUEST_LIFE)),
    keepNote: (value) => hostCookie(note, value, NOTE_SECONDS),
    ending: (head) => cookieOf(head, ending),
    keepEnding: (id) => hostCookie(ending, id, NOTE_SECONDS),
    clearEnding: () => hostCookie(ending, '', 0),
    input: (head) => cookieOf(head, input),
    keepInput: (sealed) => hostCookie(input, sealed, inSeconds(AUTH_REQUEST_LIFE)),
    clearInput: () => hostCookie(input, '', 0),
    clearSession: () => hostCookie(session, '', 0),
    clearLogin,
    clearNote: () => hostCookie(note, '', 0),
    clearOldLogins(head) {
      const states = Array.from(
        cookiesWith(head, loginName('')),
        (rest) => rest.split('=', 1)[0] ?? '',
      )
        // Only write back names that we wrote ourselves.
        .filter(isAccountState)
      return states.slice(0, Math.max(0, states.length + 1 - MOST_LOGINS)).map(clearLogin)
    },
  }
}
