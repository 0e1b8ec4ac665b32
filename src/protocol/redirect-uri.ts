/**
 * Which redirect URIs a client may use: parses the patterns of `redirectURIs` when the configuration is loaded, and
 * checks at every authorization request whether a URI matches one.
 * SPEC Authentication 10, D-8; RFC 8252 §7 for native clients, RFC 9700 §2.1 for exact matching.
 *
 * Nothing here throws, whatever the text.
 */

/** Plain data, so that a checked configuration can contain it. Parsed by `parseRedirectPattern`. */
export type RedirectPattern =
  /** No wildcard. `uri` is the serialization, with the trailing `/` that may be omitted. */
  | { readonly free: 'nothing'; readonly uri: string }
  /** `*` stood for the port. `target` is the path and the query. */
  | {
      readonly free: 'port'
      readonly scheme: WebScheme
      readonly host: string
      readonly target: string
    }
  /** Only in the defaults: the configuration cannot express it. */
  | { readonly free: 'port-and-target'; readonly scheme: WebScheme; readonly host: string }

type WebScheme = 'http:' | 'https:'

export type PatternReading =
  | { readonly ok: true; readonly pattern: RedirectPattern }
  | { readonly ok: false; readonly problem: string }

// RFC 8252 §7.3: the literals and, for clients that need it, the name.
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'] as const

/** D-8: the default, callbacks to this machine on any port and any path. */
export const DEFAULT_REDIRECT_PATTERNS: readonly RedirectPattern[] = LOOPBACK_HOSTS.flatMap(
  (host) =>
    (['http:', 'https:'] as const).map((scheme) => ({
      free: 'port-and-target' as const,
      scheme,
      host,
    })),
)

/**
 * Parses one entry of `redirectURIs`. A problem is a sentence for the operator that names the entry and says what to do
 * (R010, R011).
 */
export function parseRedirectPattern(text: string): PatternReading {
  const refuse = (problem: string): PatternReading => ({
    ok: false,
    problem: `${quoteEntry(text)} ${problem}`,
  })

  // The port follows the host; IPv6 hosts end with a bracket, so a `:*` before `/` or the end is the port.
  const wildcard = /^(https?:\/\/[^/?#*]+):\*(?=[/?#]|$)/.exec(text)
  const origin = wildcard?.[1]
  const plain =
    wildcard === null || origin === undefined ? text : origin + text.slice(wildcard[0].length)
  if (plain.includes('*')) {
    return refuse('has a * outside the port position; write * only as the port, or list each URI')
  }

  const reading = readUri(plain)
  if (!reading.ok) {
    const { problem, normal } = reading
    if (normal === undefined) return refuse(problem)
    const written = wildcard === null ? normal.href : `${normal.origin}:*${targetOf(normal)}`
    return refuse(`${problem}; write ${written}`)
  }
  const { url } = reading

  if (!isWebScheme(url.protocol)) {
    // RFC 8252 §7.1: a scheme made from a domain name. The dot also rules out javascript, data, blob, file.
    return url.protocol.includes('.')
      ? { ok: true, pattern: { free: 'nothing', uri: url.href } }
      : refuse(
          `has the scheme ${url.protocol.slice(0, -1)}; use https, http to this machine, or a scheme ` +
            'made from a domain name, such as com.example.app',
        )
  }
  // URL keeps characters such as ; and , in a host name; in a Content-Security-Policy they end a source.
  if (!/^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])$/.test(url.hostname)) {
    return refuse('has a host that is not a host name; use letters, digits, dots and hyphens')
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return refuse('is plain http to another machine; use https')
  }
  if (wildcard === null) return { ok: true, pattern: { free: 'nothing', uri: url.href } }
  if (url.port !== '') return refuse('has two ports; keep the number or the *')
  return {
    ok: true,
    pattern: { free: 'port', scheme: url.protocol, host: url.hostname, target: targetOf(url) },
  }
}

/** Returns whether a client may use this URI. The text is compared as given; nothing is normalized. */
export function matchesRedirect(pattern: RedirectPattern, text: string): boolean {
  const reading = readUri(text)
  if (!reading.ok) return false
  const { url } = reading
  if (pattern.free === 'nothing') return url.href === pattern.uri
  if (url.protocol !== pattern.scheme || url.hostname !== pattern.host) return false
  return pattern.free === 'port-and-target' || targetOf(url) === pattern.target
}

/**
 * Returns what `form-action` must name so that a browser may follow the last redirect to this URI (D-50): the origin,
 * or the scheme of a custom one. A text that is not a URI adds nothing.
 */
export function formActionSource(redirectUri: string): string {
  const url = URL.parse(redirectUri)
  if (url === null) return "'self'"
  if (!isWebScheme(url.protocol)) return url.protocol
  // CSP has no way to write an IPv6 literal (CSP3 §2.3.1): browsers drop such a source. The port still restricts it.
  if (url.hostname.startsWith('[')) {
    return url.port === '' ? `${url.protocol}//*` : `${url.protocol}//*:${url.port}`
  }
  return url.origin
}

// Longer than any callback in use, short enough to fit a header and the sealed auth request (D-7).
const MAX_LENGTH = 2048

type Reading =
  | { readonly ok: true; readonly url: URL }
  /** `normal` is the URI that URL made of the text, if it differs. */
  | { readonly ok: false; readonly problem: string; readonly normal?: URL }

/**
 * D-8: a URI is accepted only if it equals its own serialization, so that we, the browser and every parser in between
 * see the same host. URL alone would silently repair tabs, backslashes, `127.1` and capitals.
 */
function readUri(text: string): Reading {
  const refuse = (problem: string): Reading => ({ ok: false, problem })
  if (text.length > MAX_LENGTH) return refuse(`is longer than ${MAX_LENGTH} characters; shorten it`)
  // RFC 3986 §2. URL keeps some other characters, for example a backslash in a query, and browsers differ there.
  if (!/^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/.test(text)) {
    return refuse(
      'has a character that is not allowed in a URI; percent-encode it, or use the xn-- form of a host',
    )
  }
  if (text.includes('#')) return refuse('has a fragment; remove it, from the # on')
  const url = URL.parse(text)
  if (url === null) {
    return refuse('is not a whole URI; write it like https://app.example.com/callback')
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('has user info; remove it, up to the @')
  }
  // R007: servers differ on whether these separate path segments. In a query they are plain data.
  if (/%(?:2e|2f|5c)/i.test(url.pathname)) {
    return refuse('has an encoded dot, slash or backslash in its path; write the path without it')
  }
  if (url.href !== text && url.href !== `${text}/`) {
    return { ok: false, problem: 'is not in its normal form', normal: url }
  }
  return { ok: true, url }
}

/** Returns path and query. `search` does not distinguish `/?` from `/`. */
function targetOf(url: URL): string {
  return url.href.slice(`${url.protocol}//${url.host}`.length)
}

function isWebScheme(protocol: string): protocol is WebScheme {
  return protocol === 'http:' || protocol === 'https:'
}

function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.some((loopback) => loopback === host)
}

function quoteEntry(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}
