/**
 * Splits the controller's feed into lines and parses them into values. D-42; docs/router.md has the format. It knows
 * the form of each line, but not its effect.
 */
import { isJsonObject, isText, type JsonObject, parseJson } from '../base/json.ts'
import { type Duration, milliseconds } from '../base/time/duration.ts'
import { type Instant, instant } from '../base/time/instant.ts'
import { parseFactorDemands } from '../protocol/factors/second-factors.ts'
import { LONGEST_CURSOR, LONGEST_MARK } from '../protocol/limits.ts'
import type { PolicyDemands } from '../protocol/policy-demands.ts'

export type FeedLine =
  | {
      readonly type: 'hello'
      readonly brand: string
      readonly trustDomain: string
      readonly issuers: readonly string[]
      /** Everything that has ended follows; otherwise only what is new since the cursor. */
      readonly isSnapshot: boolean
      /** Changes after a restore (D-159). */
      readonly epoch?: string
    }
  | { readonly type: 'keys'; readonly keys: readonly Readonly<Record<string, unknown>>[] }
  | { readonly type: 'cas'; readonly cas: string }
  | { readonly type: 'policy'; readonly policy: PolicyDemands }
  | { readonly type: 'policy-removed'; readonly id: string }
  | {
      readonly type: 'ended'
      readonly subject: string
      readonly keepUntil: Instant
      /** Counted from when the line arrives, by a clock that never jumps; older controllers do not send it. */
      readonly keepFor?: Duration
    }
  /** To be confirmed when everything before it was applied. */
  | { readonly type: 'mark'; readonly mark: string }
  | { readonly type: 'ready'; readonly cursor: string }
  /** `at`: when it was sent, by the clock of the controller. */
  | { readonly type: 'heartbeat'; readonly cursor: string; readonly at?: Instant }
  /** From a newer controller: ignored. */
  | { readonly type: 'other' }

/** The feed violates its format: the connection must be dropped. */
export class FeedFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'FeedFault'
  }
}

/** More than a thousand keys, or CAs, need. */
export const LARGEST_LINE = 1024 * 1024

const VERSION = 1
const DEEPEST = 8
const LONGEST_SUBJECT = 256
const NEW_LINE = 0x0a

/** Takes bytes and returns every line that they complete. Throws FeedFault. */
export function createLineReader(): (chunk: Uint8Array) => readonly FeedLine[] {
  let parts: Uint8Array[] = []
  let length = 0

  function keep(part: Uint8Array): void {
    length += part.length
    if (length > LARGEST_LINE) throw new FeedFault('a line is too long')
    parts.push(part)
  }

  return (chunk) => {
    const lines: FeedLine[] = []
    let start = 0
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, start)) {
      keep(chunk.subarray(start, end))
      lines.push(readFeedLine(parts.length === 1 ? (parts[0] ?? chunk) : Buffer.concat(parts)))
      parts = []
      length = 0
      start = end + 1
    }
    keep(chunk.subarray(start))
    return lines
  }
}

export function readFeedLine(bytes: Uint8Array): FeedLine {
  const value = parseJson(bytes, DEEPEST)?.value
  if (!isJsonObject(value)) throw new FeedFault('a line is not a JSON object')
  const { type } = value
  if (typeof type !== 'string') throw new FeedFault('a line has no type')
  const read = READERS[type as keyof typeof READERS]
  if (read === undefined || !Object.hasOwn(READERS, type)) return { type: 'other' }
  const line = read(value)
  if (line === undefined) throw new FeedFault(`a line of type ${type} is malformed`)
  return line
}

const READERS = {
  hello(members: JsonObject): FeedLine | undefined {
    const { version, brand, trustDomain, issuers, isSnapshot, epoch } = members
    if (version !== VERSION) throw new FeedFault(`the version of the feed is not ${VERSION}`)
    if (!isText(brand) || !isText(trustDomain) || !isFlag(isSnapshot)) return undefined
    if (!areTexts(issuers) || issuers.length === 0) return undefined
    const hello = { type: 'hello', brand, trustDomain, issuers, isSnapshot } as const
    if (epoch === undefined) return hello
    return isCursor(epoch) ? { ...hello, epoch } : undefined
  },

  keys({ keys }: JsonObject): FeedLine | undefined {
    return Array.isArray(keys) && keys.every(isJsonObject) ? { type: 'keys', keys } : undefined
  },

  cas({ cas }: JsonObject): FeedLine | undefined {
    return isText(cas) ? { type: 'cas', cas } : undefined
  },

  policy(members: JsonObject): FeedLine | undefined {
    const { id, signers, cas, requireExtJwt } = members
    // A controller of an earlier version knows no passkeys, and allows none (D-431).
    const { allowsPassword, allowsCertificate, allowsPasskey = false, bindTokens } = members
    // An older controller does not send it.
    const { requireBoundToken = false } = members
    if (!isText(id) || !areTexts(signers) || !areTexts(cas)) return undefined
    if (!isFlag(allowsPassword) || !isFlag(allowsCertificate) || !isFlag(allowsPasskey)) {
      return undefined
    }
    const factors = parseFactorDemands(members)
    if (factors === undefined || !isFlag(bindTokens) || !isFlag(requireBoundToken)) return undefined
    const required = readRequired(requireExtJwt)
    if (required === undefined) return undefined
    const methods = { allowsPassword, allowsCertificate, allowsPasskey }
    const tokens = { bindTokens, requireBoundToken, requireExtJwt: required }
    return { type: 'policy', policy: { id, ...methods, signers, cas, ...factors, ...tokens } }
  },

  'policy-removed'({ id }: JsonObject): FeedLine | undefined {
    return isText(id) ? { type: 'policy-removed', id } : undefined
  },

  ended({ subject, keepUntil, keepFor }: JsonObject): FeedLine | undefined {
    if (!isText(subject) || subject.length > LONGEST_SUBJECT) return undefined
    if (typeof keepUntil !== 'number' || !Number.isFinite(keepUntil)) return undefined
    const ended = { type: 'ended', subject, keepUntil: instant(keepUntil) } as const
    if (keepFor === undefined) return ended
    if (typeof keepFor !== 'number' || !Number.isFinite(keepFor)) return undefined
    return { ...ended, keepFor: milliseconds(keepFor) }
  },

  mark({ mark }: JsonObject): FeedLine | undefined {
    return isText(mark) && mark.length <= LONGEST_MARK ? { type: 'mark', mark } : undefined
  },

  ready({ cursor }: JsonObject): FeedLine | undefined {
    return isCursor(cursor) ? { type: 'ready', cursor } : undefined
  },

  heartbeat({ cursor, at }: JsonObject): FeedLine | undefined {
    if (!isCursor(cursor)) return undefined
    const isTime = typeof at === 'number' && Number.isFinite(at)
    return { type: 'heartbeat', cursor, ...(isTime ? { at: instant(at) } : {}) }
  },
} as const

/** Returns undefined if the line cannot be parsed. */
function readRequired(value: unknown): PolicyDemands['requireExtJwt'] | undefined {
  if (value === null) return null
  if (!isJsonObject(value)) return undefined
  const { id, issuer } = value
  if (!isText(id) || (issuer !== null && !isText(issuer))) return undefined
  return { id, issuer }
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

function isCursor(value: unknown): value is string {
  return isText(value) && value.length <= LONGEST_CURSOR
}
