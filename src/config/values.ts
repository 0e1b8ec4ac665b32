/**
 * The types of value that a key of the file may have. Each parses what YAML returns into its final type and carries the
 * words that the documentation, the new file and the error messages use for it.
 */
import { z } from 'zod'
import { type HostPort, isLoopbackHost, isWildcardHost, parseHostPort } from '../base/host-port.ts'
import { isJsonObject } from '../base/json.ts'
import { parseHostOrNetwork, parseNetwork } from '../base/network.ts'
import { Secret } from '../base/secrets/secret.ts'
import { formatDuration } from '../base/time/duration.ts'
import { isPostgresUrl, readPostgresUrl } from '../base/urls/postgres-url.ts'
import { parseRedirectPattern, type RedirectPattern } from '../protocol/redirect-uri.ts'
import type { AuditOutput, Database } from './config.ts'
import { type DurationRule, readDuration } from './durations.ts'

/** The description of one key. */
export interface KeyFacts {
  /** Completes the sentence "must be …". */
  readonly type: string
  /** The type is a choice of words or numbers, which is shown even if there is little room. */
  readonly isChoice?: true
  /** What the key does and which rules apply to it; whole sentences. */
  readonly rule: string
  /** Shown in a new file if there is no default. */
  readonly example?:
    | string
    | number
    | readonly string[]
    | Readonly<Record<string, string>>
    | undefined
}

/** Where `keys.ts` finds the facts of each schema. */
export const keyFacts = z.registry<KeyFacts>()

/** The same for the bounds of durations. */
export const durationRules = new WeakMap<z.core.$ZodType, DurationRule>()

export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string }

/** Reads text that `pattern` matches, as it is. */
function matching(pattern: RegExp, problem: string) {
  return parsedBy((given) => (pattern.test(given) ? given : undefined), problem)
}

/** Reads what `parse` returns; undefined is a problem. */
export function parsedBy<T>(parse: (given: string) => T | undefined, problem: string) {
  return (given: string): Reading<T> => {
    const value = parse(given)
    return value === undefined ? refused(problem) : { ok: true, value }
  }
}

export function refused(problem: string): Extract<Reading<unknown>, { ok: false }> {
  return { ok: false, problem }
}

// Longer than any real path or URL.
const MAX_TEXT = 4096
const MAX_LIST = 256

/** A map of keys. A section whose lines are all commented out is null in YAML, and counts as empty. */
export function section<Shape extends z.ZodRawShape>(rule: string, shape: Shape) {
  return z
    .preprocess((value) => (value === null ? {} : value), z.strictObject(shape))
    .register(keyFacts, { type: 'a map of keys', rule })
}

/** A list with at least one entry. */
export function list<Entry extends z.ZodType>(about: Omit<KeyFacts, 'type'>, entry: Entry) {
  const type = `a list of 1 to ${MAX_LIST} entries`
  return z
    .array(entry)
    .min(1)
    .max(MAX_LIST)
    .register(keyFacts, { type, ...about })
}

/** A list that may be empty, which is the default. */
export function listOrNone<Entry extends z.ZodType>(rule: string, entry: Entry) {
  const type = `a list of at most ${MAX_LIST} entries`
  return z.array(entry).max(MAX_LIST).register(keyFacts, { type, rule }).prefault([])
}

export function duration(rule: DurationRule, about: string) {
  const schema = z
    // YAML reads `0` as a number; D-43 counts it as a duration that is too small.
    .preprocess(
      (value) => (value === 0 ? '0' : value),
      text((given) => readDuration(given, rule)),
    )
    .register(keyFacts, {
      type: 'a duration',
      rule: rule.minimum > 0 ? `${about} At least ${formatDuration(rule.minimum)}.` : about,
    })
  durationRules.set(schema, rule)
  return schema.prefault(rule.usual)
}

/** Also accepts the words `true` and `false`, which `${VAR}` produces. */
export function flag(rule: string) {
  return z
    .preprocess(
      (value) => (value === 'true' ? true : value === 'false' ? false : value),
      z.boolean(),
    )
    .register(keyFacts, { type: '`true` or `false`', rule, isChoice: true })
}

/** An integer, also as a string of digits, which `${VAR}` produces; optionally one word. */
export function count<Word extends string = never>(
  bounds: { readonly from: number; readonly to: number; readonly or?: Word },
  rule: string,
) {
  const { from, to, or: word } = bounds
  const isAllowed = (value: unknown): value is number | Word =>
    (typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to) ||
    (word !== undefined && value === word)
  const range = `a whole number from ${from} to ${to}`
  const type = word === undefined ? range : `\`${word}\` or ${range}`
  return z
    .preprocess(
      (value) => (typeof value === 'string' && /^[0-9]{1,9}$/.test(value) ? Number(value) : value),
      z.custom<number | Word>(isAllowed),
    )
    .register(keyFacts, { type, rule, isChoice: true })
}

/** A fraction, also as a string of digits, which `${VAR}` produces. */
export function ratio(rule: string, example: number) {
  return z
    .preprocess(
      (value) =>
        typeof value === 'string' && /^[01](?:\.[0-9]{1,9})?$/.test(value) ? Number(value) : value,
      z.custom<number>((value) => typeof value === 'number' && value >= 0 && value <= 1),
    )
    .register(keyFacts, { type: 'a number from 0 to 1', rule, example })
}

export function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
  rule: string,
  example?: Words[number],
) {
  const quoted = words.map((word) => `\`${word}\``)
  const type = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
  return z.enum(words).register(keyFacts, { type, rule, isChoice: true, example })
}

/** A short name that is safe in headers, URLs and logs. */
export function token(rule: string) {
  const problem = 'must be 1 to 64 letters, digits, dots, hyphens or underscores'
  const read = matching(/^[A-Za-z0-9._-]{1,64}$/, problem)
  return text(read).register(keyFacts, { type: 'a name', rule })
}

export function filePath(rule: string, example: string) {
  return text(readPath).register(keyFacts, { type: 'a path', rule, example })
}

/** A word, or a file; `./stdout` is a file with that name. */
export function auditOutput(rule: string) {
  return text((given): Reading<AuditOutput> => {
    if (given === 'none' || given === 'stdout') return { ok: true, value: { kind: given } }
    const path = readPath(given)
    return path.ok ? { ok: true, value: { kind: 'file', path: path.value } } : path
  }).register(keyFacts, { type: '`none`, `stdout` or a path', rule })
}

export function variableName(rule: string, example: string) {
  const type = 'the name of an environment variable'
  const read = matching(/^[A-Za-z_][A-Za-z0-9_]*$/, `is not ${type}`)
  return text(read).register(keyFacts, { type, rule, example })
}

export function hostPort(use: 'interface' | 'address', rule: string, example?: string) {
  return text((given): Reading<HostPort> => {
    const value = parseHostPort(given)
    if (value === undefined) {
      return refused('is not HOST:PORT; write it like id.example.com:1280 or [::1]:1280')
    }
    if (use === 'address' && isWildcardHost(value.host)) {
      return refused('stands for every interface; clients need an address to connect to')
    }
    return { ok: true, value }
  }).register(keyFacts, { type: 'HOST:PORT', rule, example })
}

/** A host without a port. */
export function hostName(rule: string, example: string) {
  const read = parsedBy((given) => {
    const place = parseHostOrNetwork(given)
    return place?.kind === 'host' ? place.host : undefined
  }, 'is not a host name; write it like id.example.com')
  return text(read).register(keyFacts, { type: 'a host name', rule, example })
}

/** SPIFFE-ID §2.1: a name of at most 255 characters, without a port. */
export function trustDomain(rule: string, example: string) {
  const problem = 'is not a trust domain; write it like example.com'
  const read = matching(/^[a-z0-9._-]{1,255}$/, problem)
  return text(read).register(keyFacts, { type: 'a trust domain', rule, example })
}

/** One address, or a network. */
export function network() {
  const problem = 'is not an address or network; write it like 10.1.2.3 or 10.0.0.0/8'
  const read = parsedBy(parseNetwork, problem)
  return text(read).register(keyFacts, { type: 'an address or network', rule: '' })
}

export function hostOrNetwork() {
  const like = 'idp.example.com, 10.1.2.3 or 10.0.0.0/8'
  const read = parsedBy(
    parseHostOrNetwork,
    `is not a host, address or network; write it like ${like}`,
  )
  return text(read).register(keyFacts, { type: 'a host, address or network', rule: '' })
}

export function redirectPattern() {
  return text((given): Reading<RedirectPattern> => {
    const reading = parseRedirectPattern(given)
    return reading.ok ? { ok: true, value: reading.pattern } : reading
  }, 'names itself').register(keyFacts, { type: 'a URI', rule: '' })
}

/** D-33: exact origins, as browsers send them. */
export function origin() {
  return text(readOrigin).register(keyFacts, { type: 'an origin', rule: '' })
}

/** A path, or the URL of a PostgreSQL server. Never quoted in a problem: it may contain a password. */
export function database(rule: string) {
  return text(readDatabase, 'never show').register(keyFacts, {
    type: 'a path or a `postgres://` URL',
    rule,
  })
}

/** Where spans are sent. Never quoted in a problem: some collectors take a key in the query. */
export function httpUrl(rule: string, example: string) {
  const read = (given: string) => readHttpUrl(given, example)
  return text(read, 'never show').register(keyFacts, { type: 'a URL', rule, example })
}

/** A key of Standard Webhooks. A problem never shows it. */
export function webhookSecret(rule: string) {
  return text(readWebhookSecret, 'never show').register(keyFacts, {
    type: 'a secret',
    rule,
    example: `\${WEBHOOK_SECRET}`,
  })
}

/** As Standard Webhooks wants it: 24 to 64 bytes. */
function readWebhookSecret(given: string): Reading<Secret> {
  const encoded = given.startsWith('whsec_') ? given.slice('whsec_'.length) : ''
  const bytes = Buffer.from(encoded, 'base64')
  const isWhole = bytes.toString('base64').replaceAll('=', '') === encoded.replaceAll('=', '')
  if (!isWhole || bytes.length < 24 || bytes.length > 64) {
    return refused('must be whsec_ and 24 to 64 bytes in base64')
  }
  return { ok: true, value: new Secret(encoded) }
}

/** Names and values of header fields. A problem shows only names: a value may be a credential. */
export function headerFields(rule: string, example: Readonly<Record<string, string>>) {
  return z
    .unknown()
    .transform((given, context): Readonly<Record<string, Secret>> => {
      const problem = headerProblem(given)
      if (problem === undefined) {
        const fields = Object.entries(given as Record<string, string>)
        return Object.fromEntries(fields.map(([name, value]) => [name, new Secret(value)]))
      }
      context.addIssue({ code: 'custom', message: problem })
      return z.NEVER
    })
    .register(keyFacts, { type: 'a map of header fields', rule, example })
}

/** Text that `read` accepts. A problem begins with the quoted text, unless that is a secret or already contains it. */
export function text<T>(
  read: (given: string) => Reading<T>,
  quoting: 'quote' | 'names itself' | 'never show' = 'quote',
) {
  return z.string().transform((given, context): T => {
    const reading = given.length > MAX_TEXT ? TOO_LONG : read(given)
    if (reading.ok) return reading.value
    const message = quoting === 'quote' ? `${quote(given)} ${reading.problem}` : reading.problem
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}

const TOO_LONG = { ok: false, problem: `is longer than ${MAX_TEXT} characters` } as const

function quote(given: string): string {
  return JSON.stringify(given.length > 80 ? `${given.slice(0, 80)}…` : given)
}

function readPath(given: string): Reading<string> {
  if (given === '') return refused('is not a path')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a path
  if (/[\u0000-\u001f\u007f]/.test(given)) return refused('has a control character in it')
  return { ok: true, value: given }
}

function readOrigin(given: string): Reading<string> {
  const url = URL.parse(given)
  if (url === null || url.origin === 'null') {
    return refused('is not an origin; write it like https://console.example.com')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refused('is neither https nor http')
  }
  // Browsers send this text, so only its exact form can ever match.
  if (url.origin !== given) return refused(`is not an exact origin; write ${quote(url.origin)}`)
  const host = parseHostPort(url.host, 80)?.host
  if (host === undefined) return refused('has a host that is not a host name')
  if (url.protocol === 'http:' && !isLoopbackHost(host)) {
    return refused('is plain http to another machine; use https')
  }
  return { ok: true, value: given }
}

function readHttpUrl(given: string, example: string): Reading<URL> {
  const url = URL.parse(given)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return refused(`is not a URL like ${example}`)
  }
  if (url.username !== '' || url.password !== '') {
    return refused('carries a user or password; give those as headers')
  }
  if (url.hash !== '') return refused('has a fragment, which is never sent')
  return { ok: true, value: url }
}

const MAX_HEADERS = 16

/** Fields that frame the message instead of carrying content (RFC 9110 §7.6.1). */
const FRAMING = ['connection', 'content-length', 'content-type', 'host', 'transfer-encoding']

function headerProblem(given: unknown): string | undefined {
  if (!isJsonObject(given)) return 'must be a map of header fields'
  const fields = Object.entries(given)
  if (fields.length > MAX_HEADERS) return `has more than ${MAX_HEADERS} fields`
  for (const [name, value] of fields) {
    // RFC 9110 §5.1 and §5.5: a token, and text without control characters.
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/.test(name))
      return 'has a name that is not a valid field name'
    if (FRAMING.includes(name.toLowerCase())) return `${quote(name)} is a field that we set`
    if (typeof value !== 'string') return `${quote(name)} must be text`
    if (!/^[\x20-\x7e]{1,4096}$/.test(value)) return `${quote(name)} is not printable ASCII text`
  }
  return undefined
}

function readDatabase(given: string): Reading<Database> {
  if (isPostgresUrl(given)) {
    const reading = readPostgresUrl(given)
    return reading.ok ? { ok: true, value: { kind: 'postgres', url: new Secret(given) } } : reading
  }
  // SQLite interprets `:memory:` and `file:`, and other schemes are other databases. One letter is a drive.
  if (/^(?:[A-Za-z][A-Za-z0-9+.-]+)?:/.test(given)) {
    return refused('is neither a path nor a postgres:// URL')
  }
  const path = readPath(given)
  return path.ok ? { ok: true, value: { kind: 'sqlite', path: path.value } } : path
}
