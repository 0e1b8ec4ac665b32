/**
 * The cookies of the gateway in a browser: the session, and the logins in progress. D-411. The prefix `__Host-` keeps
 * other hosts of the same site from setting them (RFC 6265bis §4.1.3.2). `http/own-cookies.ts` keeps them from the
 * upstream.
 */
import { base64url, sha256 } from '../../base/encoding.ts'
import type { Random } from '../../base/secrets/random.ts'
import { MOST_COOKIE_OCTETS, NEWEST_LOGIN_OCTETS } from '../../protocol/limits.ts'
import { type Field, valuesOf } from '../http/fields.ts'
import { isOwnCookie, mayHaveOwnCookie } from '../http/own-cookies.ts'

const SESSION = '__Host-latchkey-gateway'
const LOGIN = `${SESSION}-login-`

/** Lax and not Strict: a user follows links to the application, and comes back from the login. */
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'

const LOGIN_SECONDS = 600
const VALUE_BYTES = 32
const VALUE = /^[\w-]{43}$/

/** All logins in progress together, so that another site cannot fill the header of a browser by opening windows. */
const LOGIN_BYTES = 6 * 1024

export type SessionCookie =
  | { readonly outcome: 'none' }
  | { readonly outcome: 'one'; readonly value: string }
  /** Malformed, or several: browsers send two only if someone has found a way to set one. */
  | { readonly outcome: 'bad' }

export function readSessionCookie(fields: readonly Field[]): SessionCookie {
  const values = cookiesOf(fields).flatMap(([name, value]) => (name === SESSION ? [value] : []))
  const [value] = values
  if (value === undefined) return { outcome: 'none' }
  return values.length === 1 && VALUE.test(value) ? { outcome: 'one', value } : { outcome: 'bad' }
}

export function newCookieValue(random: Random): string {
  return base64url(random.bytes(VALUE_BYTES))
}

/** What the gateway stores: it does not lead back to the cookie. */
export function hashOfCookie(value: string): string {
  return base64url(sha256(value))
}

/** Without `Max-Age`: it ends with the browser, and at the latest with its session. */
export const keepSession = (value: string): Field => setCookie(`${SESSION}=${value}; ${ATTRIBUTES}`)
export const clearSession = (): Field => cleared(SESSION)

/** Each login has its own cookie, so that two windows do not disturb each other. */
const loginName = (state: string) => `${LOGIN}${state.slice(0, 16)}`

export function readLoginCookie(fields: readonly Field[], state: string): string | undefined {
  const name = loginName(state)
  const values = cookiesOf(fields).flatMap(([given, value]) => (given === name ? [value] : []))
  return values.length === 1 ? values[0] : undefined
}

export const keepLogin = (state: string, sealed: string): Field =>
  setCookie(`${loginName(state)}=${sealed}; ${ATTRIBUTES}; Max-Age=${LOGIN_SECONDS}`)

export const clearLogin = (state: string): Field => cleared(loginName(state))

/**
 * Clears the oldest logins, as far as they leave no room for another one beside the other cookies of the host (D-482).
 * Browsers send the oldest first.
 */
export function clearOldLogins(fields: readonly Field[], room: number): readonly Field[] {
  const logins = cookiesOf(fields).filter(([name]) => /^[\w-]{1,64}$/.test(name) && isLogin(name))
  const all = valuesOf(fields, 'cookie').reduce((sum, value) => sum + value.length, 0)
  const others = logins.reduce((rest, [name, value]) => rest - name.length - value.length, all)
  const most = Math.max(NEWEST_LOGIN_OCTETS, Math.min(LOGIN_BYTES, MOST_COOKIE_OCTETS - others))
  let left = most - room
  const old = logins.reverse().filter(([name, value]) => {
    left -= name.length + value.length
    return left < 0
  })
  return old.map(([name]) => cleared(name))
}

const isLogin = (name: string) => name.startsWith(LOGIN)
const cleared = (name: string): Field => setCookie(`${name}=; ${ATTRIBUTES}; Max-Age=0`)
const setCookie = (value: string): Field => ['set-cookie', value]

function cookiesOf(fields: readonly Field[]): readonly (readonly [string, string])[] {
  // D-211: a field without our name is not split.
  return valuesOf(fields, 'cookie')
    .filter(mayHaveOwnCookie)
    .flatMap((value) => value.split(';'))
    .filter(isOwnCookie)
    .map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
    })
}
