/**
 * One request of a browser, wherever it arrived: at the gateway itself, or at a proxy that asks the gateway about it. And
 * what the gateway answers to it by itself.
 */
import type { Field } from '../http/fields.ts'
import { onlyValue, valuesOf } from '../http/fields.ts'

export interface Visit {
  /** `https://HOST[:PORT]`, as the browser sees it. */
  readonly origin: string
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly fields: readonly Field[]
  readonly isUpgrade: boolean
  readonly requestId: string
}

export interface BrowserAnswer {
  readonly status: number
  readonly fields: readonly Field[]
  readonly body: string
  /** For the log. */
  readonly code?: string
  /**
   * Runs when the answer has been sent. The end of a session closes the connections that it was used on, and this may be
   * one of them.
   */
  readonly afterwards?: () => void
}

/** Undefined for a Host that browsers would not write like this. */
export function originOf(host: string): string | undefined {
  return URL.parse(`https://${host}`)?.origin
}

/**
 * Whether a user waits for a page: a navigation of the whole window. Anything else, such as a call of a script, a
 * picture or a frame, gets a status that its program can read. Old browsers do not send `Sec-Fetch-…`.
 */
export function isNavigation(visit: Pick<Visit, 'method' | 'fields' | 'isUpgrade'>): boolean {
  if (visit.method !== 'GET' || visit.isUpgrade) return false
  return wantsPage(visit)
}

/** Also for the answer to a form. */
export function wantsPage(visit: Pick<Visit, 'fields' | 'isUpgrade'>): boolean {
  if (visit.isUpgrade || valuesOf(visit.fields, 'x-requested-with').length > 0) return false
  const mode = onlyValue(visit.fields, 'sec-fetch-mode')
  if (mode !== undefined) {
    return mode === 'navigate' && onlyValue(visit.fields, 'sec-fetch-dest') === 'document'
  }
  return /(?:^|,)\s*text\/html\b/i.test(onlyValue(visit.fields, 'accept') ?? '')
}

/** Programs do not send these fields, and scripts cannot suppress them. */
export function isOfBrowser({ fields }: Pick<Visit, 'fields'>): boolean {
  return fields.some(([name]) => /^(?:sec-fetch-mode|x-requested-with)$/i.test(name))
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Whether another site may have caused a request that changes something, or that opens a WebSocket. `SameSite=Lax`
 * keeps the cookie from other sites, but not from other hosts of the same site (RFC 6265bis §8.8.2), and browsers apply
 * no same-origin policy to WebSockets. Every browser sends `Origin` with such requests.
 */
export function isCrossSite(visit: Pick<Visit, 'method' | 'fields' | 'isUpgrade' | 'origin'>) {
  if (SAFE_METHODS.has(visit.method) && !visit.isUpgrade) return false
  const site = valuesOf(visit.fields, 'sec-fetch-site')
  const origins = valuesOf(visit.fields, 'origin')
  if (site.some((value) => value !== 'same-origin' && value !== 'none')) return true
  // A page with `Referrer-Policy: no-referrer` sends `null` even to itself; only Sec-Fetch-Site tells it from others.
  const isSame = site.length === 1 && site[0] === 'same-origin' && !visit.isUpgrade
  if (origins.some((value) => value !== visit.origin && !(isSame && value === 'null'))) return true
  return origins.length === 0 && (visit.isUpgrade || site.length === 0)
}

/** Longer ones would not fit in a cookie. */
const LONGEST_TARGET = 1_500

const PRINTABLE = /^\/[!-~]*$/

/** Returns the address to return to, always at this origin and never one of the gateway itself. */
export function safeTarget(text: string | undefined, origin: string): string {
  const url = text === undefined || !PRINTABLE.test(text) ? null : URL.parse(text, origin)
  // `//host` and `/\host` lead elsewhere.
  if (url === null || url.origin !== origin || url.pathname.startsWith('//')) return '/'
  if (url.pathname.toLowerCase().startsWith('/.latchkey')) return '/'
  const whole = `${url.pathname}${url.search}`
  if (whole.length <= LONGEST_TARGET) return whole
  return url.pathname.length <= LONGEST_TARGET ? url.pathname : '/'
}
