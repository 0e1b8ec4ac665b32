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

const LOGIN_SECONDS = inSeconds(AUTH_REQUEST_LIFE)

/** Browsers send the oldest first (RFC 6265 §5.4). D-181 allows this many logins in progress, including the new one. */
const MOST_LOGINS = 8

export type SiteCookies = ReturnType<typeof siteCookies>

export function siteCookies(site: OwnSite) {
  // The name without `-page` is that of known devices (D-216), which must outlive this session.
  const session = `__Host-latchkey-${site === 'device' ? 'device-page' : site}`
  const logins = `${session}-login-`
  /** One for each login, so that two tabs do not interfere. */
  const login = (state: string) => lasting(`${logins}${state}`, LOGIN_SECONDS)
  return {
    session: {
      ...named(session),
      keep: (sealed: string, seconds: number) => hostCookie(session, sealed, seconds),
    },
    login,
    /** Anything that the browser sent; the site decides which notes it has. */
    note: lasting(`${session}-note`, NOTE_SECONDS),
    /** The id of what the last form ended, for the next page (D-363). */
    ending: lasting(`${session}-ending`, NOTE_SECONDS),
    /** What was typed into a form that needs a fresh login first, sealed (D-481). */
    input: lasting(`${session}-input`, LOGIN_SECONDS),
    /** Deletes the oldest unfinished logins when another one starts. */
    clearOldLogins(head: RequestHead): readonly string[] {
      const states = Array.from(cookiesWith(head, logins), (rest) => rest.split('=', 1)[0] ?? '')
        // Only write back names that we wrote ourselves.
        .filter(isAccountState)
      const old = states.slice(0, Math.max(0, states.length + 1 - MOST_LOGINS))
      return old.map((state) => login(state).clear())
    },
  }
}

function lasting(name: string, seconds: number) {
  return { ...named(name), keep: (value: string) => hostCookie(name, value, seconds) }
}

function named(name: string) {
  const read = (head: RequestHead) => cookieOf(head, name)
  const clear = () => hostCookie(name, '', 0)
  /** A cookie that was not sent is left alone: it may be valid, or there may be none. */
  const clearIfSent = (head: RequestHead) => (read(head) === undefined ? [] : [clear()])
  return { read, clear, clearIfSent }
}
