/**
 * The cookies of a login: one binds the login to the browser that started it (D-10), others hold sealed state while the
 * user is at an IdP (D-155, D-156). Each auth request has its own, so that two tabs do not interfere. Also reads the
 * fetch metadata of a request.
 */
import { inSeconds } from '../../../base/time/duration.ts'
import type { KeptCookies } from '../../../domain/login/external/come-back.ts'
import type { AuthRequestKey } from '../../../domain/login/request/auth-request.ts'
import type { StepOrigin } from '../../../domain/login/request/browser-binding.ts'
import { AUTH_REQUEST_LIFE } from '../../../domain/login/start.ts'
import { hostCookie } from '../../answer.ts'
import type { Call } from '../../call.ts'
import { cookieOf } from '../../reading/cookies.ts'
import type { RequestHead } from '../../reading/header-fields.ts'

const MAX_AGE = inSeconds(AUTH_REQUEST_LIFE)

const cookieName = (key: AuthRequestKey) => `__Host-latchkey-${key}`
const keptName = (kind: Kept, key: AuthRequestKey) => `__Host-latchkey-${kind}-${key}`

/** The other stored values: which IdP the user was sent to, and which factors were proven before. */
const KEPT = ['idp', 'primary'] as const
type Kept = (typeof KEPT)[number]

/** Browsers store at most 4096 characters per cookie, including its name; longer values are split. */
const LONGEST_PART = 3500
const MOST_PARTS = 3

export function setCookie(key: AuthRequestKey, value: string): string {
  return hostCookie(cookieName(key), value, MAX_AGE)
}

/** Stores a value, and deletes the leftover parts of a longer one. */
export function keepCookies(
  head: RequestHead,
  {
    kind,
    key,
    value,
  }: { readonly kind: Kept; readonly key: AuthRequestKey; readonly value: string },
): readonly string[] {
  const parts = value.match(new RegExp(`.{1,${LONGEST_PART}}`, 'g')) ?? []
  return partNames(kind, key).flatMap((name, i) => {
    const part = parts[i]
    if (part !== undefined) return [hostCookie(name, part, MAX_AGE)]
    return cookieOf(head, name) === undefined ? [] : [cleared(name)]
  })
}

/** Deletes every cookie of this login. */
export function clearCookies(head: RequestHead, key: AuthRequestKey): readonly string[] {
  const names = KEPT.flatMap((kind) => partNames(kind, key))
  const kept = names.filter((name) => cookieOf(head, name) !== undefined)
  return [cookieName(key), ...kept].map(cleared)
}

export function keptCookies(head: RequestHead): KeptCookies {
  const read = (kind: Kept, key: AuthRequestKey): string | undefined => {
    const parts = partNames(kind, key).map((name) => cookieOf(head, name))
    const end = parts.indexOf(undefined)
    const whole = end < 0 ? parts : parts.slice(0, end)
    return whole.length === 0 ? undefined : whole.join('')
  }
  return {
    roundTrip: (key) => read('idp', key),
    primary: (key) => read('primary', key),
  }
}

const cleared = (name: string) => hostCookie(name, '', 0)

function partNames(kind: Kept, key: AuthRequestKey): readonly string[] {
  return Array.from({ length: MOST_PARTS }, (_, i) => `${keptName(kind, key)}-${i}`)
}

/**
 * Every browser sends it, and scripts cannot remove it. The other fields of fetch metadata do not tell: the `fetch` of
 * Node sends `Sec-Fetch-Mode` (D-10).
 */
export function isFromBrowser(head: RequestHead): boolean {
  return head.headers['sec-fetch-site'] !== undefined
}

export function stepOrigin(
  call: Pick<Call, 'method' | keyof RequestHead>,
  corsOrigins: readonly string[],
): StepOrigin {
  const { origin } = call.headers
  const isCrossSite = call.headers['sec-fetch-site'] === 'cross-site'
  const isListed = origin !== undefined && corsOrigins.includes(origin)
  return {
    isBrowser: isFromBrowser(call),
    isForeignPost: call.method !== 'GET' && isCrossSite && !isListed,
    cookie: (key) => cookieOf(call, cookieName(key)),
  }
}
