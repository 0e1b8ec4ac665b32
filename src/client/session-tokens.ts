/**
 * The tokens of a session: fresh whenever they are asked for, refreshed by one request at a time, and stored before
 * they are used. SPEC Refresh token; D-150.
 */
import type { Clock } from '../base/time/clock.ts'
import { instant } from '../base/time/instant.ts'
import { RateLimited, ServerUnavailable, SessionEnded, UnexpectedAnswer } from './errors.ts'
import type { IdTokens } from './id-token.ts'
import type { ProofKey } from './proof-key.ts'
import { isFresh, type SavedSession } from './saved-session.ts'
import type { TokenEndpoint } from './tokens.ts'

export type OnTokens = (saved: SavedSession) => void | Promise<void>

/** Between two attempts while the server cannot be reached and the token is alive. */
const RETRY_SECONDS = 10

export function createSessionTokens(
  deps: {
    readonly tokens: Pick<TokenEndpoint, 'refresh'>
    readonly idTokens: IdTokens
    readonly clock: Pick<Clock, 'now'>
    readonly key: ProofKey | undefined
  },
  begun: SavedSession,
  onTokens: OnTokens | undefined,
) {
  const { clock, key } = deps
  let state = begun
  let isKept = true
  let keeping: Promise<void> = Promise.resolve()
  /** The refresh token may be spent, and the response was lost. */
  let isInDoubt = false
  /** After a failed refresh: not before this, as long as the token is alive. */
  let retryAt = 0
  let ended: SessionEnded | undefined
  let refreshing: Promise<void> | undefined

  const left = () => state.expiresAt - clock.now()

  function throwIfEnded(): void {
    if (ended !== undefined) throw ended
  }

  /** Passes the tokens to `onTokens`: one call after the other, always with the newest ones. */
  function keep(): Promise<void> {
    isKept = false
    keeping = keeping
      .catch(() => undefined)
      .then(() => onTokens?.(state))
      .then(() => {
        isKept = true
      })
    return keeping
  }

  /** Gets new tokens now. If a refresh is running, waits for that one. */
  function refresh(): Promise<void> {
    refreshing ??= refreshNow().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  async function refreshNow(): Promise<void> {
    throwIfEnded()
    const { refreshToken } = state
    if (refreshToken === undefined) throw over('EXPIRED', 'the session cannot be refreshed')
    try {
      const got = await deps.tokens.refresh(refreshToken, key).catch((error: unknown) => {
        isInDoubt = isInDoubt || mayBeSpent(error)
        throw error
      })
      isInDoubt = false
      // RFC 6749 §6: without a new refresh token, the old one stays valid.
      const successor = got.refreshToken ?? refreshToken
      const keepSuccessor = async () => {
        state = { ...state, refreshToken: successor }
        await keep()
      }
      const claims = await deps.idTokens
        .verify(got.idToken, {
          accessToken: got.accessToken,
          nonce: undefined,
          before: state.claims,
          beforeFetch: keepSuccessor,
        })
        .catch(async (error: unknown) => {
          // Even if the rest is not valid, the old refresh token is spent.
          await keepSuccessor()
          throw error
        })
      const { refreshAt: _, ...before } = state
      state = { ...before, ...got, refreshToken: successor, claims }
    } catch (error) {
      if (error instanceof SessionEnded) ended = error
      throw error
    }
    await keep()
  }

  /** Returns a fresh access token; refreshes it first if needed. Throws SessionEnded. */
  async function fresh(): Promise<string> {
    throwIfEnded()
    // Tokens that could not be stored are not used until they are.
    if (!isKept) await (refreshing ?? keep())
    if (isFresh(state, clock.now())) return state.accessToken
    const isAlive = left() > 0
    // D-150: a token in doubt is sent again only if there is nothing left to lose.
    if (isAlive && (state.refreshToken === undefined || isInDoubt)) return state.accessToken
    if (isAlive && clock.now() < retryAt) return state.accessToken
    try {
      await refresh()
    } catch (error) {
      // RFC 6585 §4: a refresh that has to wait says so too.
      const mustWait = error instanceof ServerUnavailable || error instanceof RateLimited
      if (!mustWait || left() <= 0) throw error
      retryAt = clock.now() + (error.retryAfterSeconds ?? RETRY_SECONDS) * 1_000
    }
    return state.accessToken
  }

  return {
    /** Whether they are fresh or not. */
    newest: () => state,
    fresh,
    refresh,
    keep,
    /** Waits for a refresh that is running, however it ends. */
    settle: async () => refreshing?.catch(() => undefined),
    /** After a logout: forgets the tokens. */
    discard() {
      ended = over('LOGGED_OUT', 'the session was logged out')
      const { refreshToken: _, ...rest } = state
      state = { ...rest, accessToken: '', expiresAt: instant(0) }
    },
    throwIfEnded,
  }
}

const mayBeSpent = (error: unknown) =>
  error instanceof UnexpectedAnswer || (error instanceof ServerUnavailable && error.mayHaveHappened)

const over = (code: string, message: string) => new SessionEnded(code, message, { status: 0 })
