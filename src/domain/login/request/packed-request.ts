/**
 * An auth request as few bytes, because its id must fit where existing clients put it: D-313. Texts that are base64url
 * (keys, challenges, most states) become their bytes, and beginnings that most requests share become one byte.
 */
import { base64url, fromBase64url, fromUtf8, utf8 } from '../../../base/encoding.ts'
import type { SecretHash } from '../../../base/secrets/vault.ts'
import { milliseconds } from '../../../base/time/duration.ts'
import { instant } from '../../../base/time/instant.ts'
import { SECOND_FACTOR_IDS } from '../../../protocol/factors/second-factors.ts'
import { type Issuer, PROVIDER_PREFIX, RESPONSE_MODES, SCOPES } from '../../../protocol/oidc.ts'
import type { AuthRequestKey, AwaitingPrimary, ClientAsk } from './auth-request.ts'
import type { VerifiedRedirect } from './verified-redirect.ts'

/** Also tells packed requests from others. A change of the format, or of one of the lists below, needs another one. */
const FORMAT = 1
/** With one byte more, about what older instances do not know and must not pass over. */
const FORMAT_WITH_MORE = 2

/** Requests live for ten minutes, so the order counts only as long. */
const BEGINNINGS = [
  '',
  'https://',
  'http://localhost:20314/auth/callback',
  'http://localhost:',
  'http://127.0.0.1:',
  'service',
  'openziti',
  'native',
] as const

const NO_BEGINNING = { i: 0, start: '' }
const LONGEST_FIRST = BEGINNINGS.map((start, i) => ({ i, start })).toSorted(
  (a, b) => b.start.length - a.start.length,
)

const FLAG = {
  formPost: 1,
  prompt: 2,
  state: 4,
  nonce: 8,
  maxAge: 16,
  browser: 32,
  oidc: 64,
} as const
/** In the byte of a beginning: what follows is bytes, written as base64url in the text. */
const IS_BASE64URL = 128
const TIME_BYTES = 6
/** A length is one byte, or this one and two more. */
const LONG = 255
/** Nothing longer fits into an id anyway. */
const LONGEST_TEXT = 0xff_ff

export function packRequest({ key, ask, browser, expiresAt }: AwaitingPrimary): Uint8Array {
  const { state, nonce, maxAge, prompt, responseMode, issuer, dpopKey } = ask
  const hasPrefix = issuer.endsWith(PROVIDER_PREFIX)
  const flags =
    (responseMode === 'form_post' ? FLAG.formPost : 0) |
    (prompt === undefined ? 0 : FLAG.prompt) |
    (state === undefined ? 0 : FLAG.state) |
    (nonce === undefined ? 0 : FLAG.nonce) |
    (maxAge === undefined ? 0 : FLAG.maxAge) |
    (browser === undefined ? 0 : FLAG.browser) |
    (hasPrefix ? FLAG.oidc : 0)
  const scopes = SCOPES.reduce((set, one, i) => set | (ask.scopes.includes(one) ? 1 << i : 0), 0)
  const more = packMore(ask)
  const base = hasPrefix ? issuer.slice(0, -PROVIDER_PREFIX.length) : issuer
  return Buffer.concat([
    Buffer.from(more === 0 ? [FORMAT, flags, scopes] : [FORMAT_WITH_MORE, flags, scopes, more]),
    packNumber(expiresAt),
    ...(maxAge === undefined ? [] : [packNumber(maxAge)]),
    ...[key, ask.clientId, ask.redirectUri, base, ask.codeChallenge].map(packText),
    ...[dpopKey, state, nonce, browser].filter((text) => text !== undefined).map(packText),
    ...ask.configTypes.map(packText),
  ])
}

/** Returns undefined for bytes of another format. */
export function unpackRequest(bytes: Uint8Array): AwaitingPrimary | undefined {
  const packed = Buffer.from(bytes)
  const [format, flags = 0, scopes = 0] = packed
  if (format !== FORMAT && format !== FORMAT_WITH_MORE) return undefined
  const more = format === FORMAT ? 0 : packed.readUInt8(3)
  let at = format === FORMAT ? 3 : 4
  const has = (flag: number): boolean => (flags & flag) !== 0
  const number = (): number => {
    at += TIME_BYTES
    return packed.readUIntBE(at - TIME_BYTES, TIME_BYTES)
  }
  const text = (): string => {
    const beginning = packed.readUInt8(at)
    const short = packed.readUInt8(at + 1)
    const size = short < LONG ? short : packed.readUInt16BE(at + 2)
    const from = at + (short < LONG ? 2 : 4)
    at = from + size
    const rest = packed.subarray(from, at)
    const start = BEGINNINGS[beginning & ~IS_BASE64URL] ?? ''
    const isBase64url = (beginning & IS_BASE64URL) !== 0
    return start + (isBase64url ? base64url(rest) : (fromUtf8(rest) ?? ''))
  }
  const expiresAt = instant(number())
  const maxAge = has(FLAG.maxAge) ? milliseconds(number()) : undefined
  const key = text() as AuthRequestKey
  const clientId = text()
  const redirectUri = text() as VerifiedRedirect
  const issuer = `${text()}${has(FLAG.oidc) ? PROVIDER_PREFIX : ''}` as Issuer
  const codeChallenge = text()
  const dpopKey = (more & HAS_DPOP_KEY) === 0 ? undefined : text()
  const state = has(FLAG.state) ? text() : undefined
  const nonce = has(FLAG.nonce) ? text() : undefined
  const browser = has(FLAG.browser) ? (text() as SecretHash) : undefined
  const configTypes: string[] = []
  while (at < packed.length) configTypes.push(text())
  const ask = {
    clientId,
    redirectUri,
    responseMode: RESPONSE_MODES[has(FLAG.formPost) ? 1 : 0],
    issuer,
    scopes: SCOPES.filter((_, i) => (scopes & (1 << i)) !== 0),
    codeChallenge,
    dpopKey,
    state,
    nonce,
    prompt: has(FLAG.prompt) ? ('login' as const) : undefined,
    maxAge,
    stepUp: unpackStepUp(more),
    configTypes,
  }
  return { state: 'awaiting-primary', key, ask, browser, expiresAt }
}

function packNumber(value: number): Buffer {
  const bytes = Buffer.alloc(TIME_BYTES)
  bytes.writeUIntBE(value, 0, TIME_BYTES)
  return bytes
}

/** In the byte `more`. The bits above it are the second factors of `stepUp`. */
const HAS_DPOP_KEY = 1

function packMore({ dpopKey, stepUp = [] }: ClientAsk): number {
  const factors = SECOND_FACTOR_IDS.map((id, i) =>
    stepUp.includes(id) ? HAS_DPOP_KEY << (i + 1) : 0,
  )
  return factors.reduce((all, bit) => all | bit, dpopKey === undefined ? 0 : HAS_DPOP_KEY)
}

function unpackStepUp(more: number): ClientAsk['stepUp'] {
  const factors = SECOND_FACTOR_IDS.filter((_, i) => (more & (HAS_DPOP_KEY << (i + 1))) !== 0)
  return factors.length === 0 ? undefined : factors
}

function packText(text: string): Buffer {
  const { i, start } = LONGEST_FIRST.find((one) => text.startsWith(one.start)) ?? NO_BEGINNING
  const rest = text.slice(start.length)
  const decoded = rest.length > 1 ? fromBase64url(rest) : undefined
  const bytes = Buffer.from(decoded ?? utf8(rest)).subarray(0, LONGEST_TEXT)
  const beginning = i | (decoded === undefined ? 0 : IS_BASE64URL)
  const { length } = bytes
  const head = length < LONG ? [beginning, length] : [beginning, LONG, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), bytes])
}
