/**
 * A session as it is stored between two runs of a program: plain JSON, for a file that only the user can read. It
 * contains the tokens: anyone who can read it can use the session.
 */
import { isText } from '../base/json.ts'
import type { IdTokenClaims } from './id-token.ts'
import { asObject } from './wire/answers.ts'

export interface SavedSession {
  readonly version: 1
  /** The options that `connect` was given. */
  readonly url: string
  readonly api: string
  readonly ca?: string
  readonly clientId: string
  readonly accessToken: string
  /** Milliseconds since 1970, by the clock of this machine. */
  readonly expiresAt: number
  readonly lifetimeMilliseconds: number
  /** When the server asked for a refresh (`refresh_after`), by the clock of this machine. Absent if it did not. */
  readonly refreshAt?: number
  /** Absent if `offline_access` was not requested. */
  readonly refreshToken?: string
  /** The private key that the tokens are bound to, as a JWK (RFC 9449). Absent if they are bound to none. */
  readonly dpopKey?: Readonly<Record<string, unknown>>
  readonly idToken: string
  /** From the ID token, verified. */
  readonly claims: IdTokenClaims
}

/**
 * A token that expires sooner than this is refreshed; for a token with a lifetime of a few minutes, a third of that.
 * A server that says `refresh_after` is obeyed: it spreads its clients (D-324). Documented in docs/client.md.
 */
const FRESH_MILLISECONDS = 30_000

/** Returns whether the access token is fresh enough to be used. */
export function isFresh(
  token: Pick<SavedSession, 'expiresAt' | 'lifetimeMilliseconds' | 'refreshAt'>,
  now: number,
): boolean {
  const { expiresAt, lifetimeMilliseconds, refreshAt } = token
  if (refreshAt !== undefined && now >= refreshAt) return false
  return expiresAt - now > Math.min(FRESH_MILLISECONDS, lifetimeMilliseconds / 3)
}

/** Throws a TypeError that says which part is wrong, and never quotes it. */
export function readSavedSession(value: unknown): SavedSession {
  const saved = asObject(value)
  if (saved?.['version'] !== 1) throw new TypeError('this is not a saved session')
  for (const name of ['url', 'api', 'clientId', 'accessToken', 'idToken']) {
    if (!isText(saved[name])) throw new TypeError(`the saved session has no ${name}`)
  }
  for (const name of ['ca', 'refreshToken']) {
    const part = saved[name]
    if (part !== undefined && !isText(part)) {
      throw new TypeError(`the saved session has a ${name} that is not text`)
    }
  }
  for (const name of ['expiresAt', 'lifetimeMilliseconds']) {
    if (!Number.isFinite(saved[name])) throw new TypeError(`the saved session has no ${name}`)
  }
  const { refreshAt } = saved
  if (refreshAt !== undefined && !Number.isFinite(refreshAt)) {
    throw new TypeError('the saved session has a refreshAt that is not a number')
  }
  const { dpopKey } = saved
  if (dpopKey !== undefined && asObject(dpopKey) === undefined) {
    throw new TypeError('the saved session has a dpopKey that is not a private key')
  }
  const { sub, sid } = asObject(saved['claims']) ?? {}
  if (!isText(sub) || !isText(sid)) throw new TypeError('the saved session has no claims')
  return saved as unknown as SavedSession
}
