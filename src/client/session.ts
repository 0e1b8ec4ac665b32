/**
 * A session after its login: a token that is always fresh, calls that react to the reason of a refusal, and the refresh
 * that both rely on. SPEC Refresh token, SPEC 401 challenges. Only one refresh runs at a time, and its result is stored
 * before it is used (D-150).
 */

import { abortable } from '../base/time/abortable.ts'
import type { Clock } from '../base/time/clock.ts'
import { instant } from '../base/time/instant.ts'
import type { ExtJwtQuery } from '../protocol/auth-query.ts'
import { ENDING_HEADER } from '../protocol/headers.ts'
import { type Call, responseOf, sendCall } from './api-call.ts'
import { faultOf } from './call-faults.ts'
import {
  type CertificateOptions,
  requestCertificate,
  type SessionCertificate,
} from './certificates/session-certificate.ts'
import { RateLimited, ServerUnavailable, SessionEnded, UnexpectedAnswer } from './errors.ts'
import type { IdTokenClaims, IdTokens } from './id-token.ts'
import { sessionFields } from './login/credentials.ts'
import { type Factors, obtainJwt } from './login/factors.ts'
import type { ProofKey } from './proof-key.ts'
import { isFresh, type SavedSession } from './saved-session.ts'
import type { TokenEndpoint } from './tokens.ts'
import { refusalIn, refusalOf } from './wire/answers.ts'
import { formRequest, type Wire, type WireAnswer } from './wire/https-wire.ts'
import type { Provider } from './wire/provider.ts'

export interface Session {
  /** The API session, `z_asid`. */
  readonly id: string
  readonly identityId: string
  /** The claims of the newest ID token, verified. */
  claims(): IdTokenClaims
  idToken(): string
  /** Returns a fresh token; refreshes it first if needed. */
  accessToken(options?: { readonly signal?: AbortSignal }): Promise<string>
  /**
   * Returns the header fields for a request that the program sends itself, to a gateway for example: the token, and the
   * proof that belongs to it if it is bound to a key. A proof is valid for one request, at once.
   */
  authorization(request: {
    readonly method: string
    readonly url: string | URL
    /** From the `DPoP-Nonce` field of an earlier response of that server. */
    readonly nonce?: string
  }): Promise<Readonly<Record<string, string>>>
  /** Gets new tokens now. */
  refresh(): Promise<void>
  /** A call with the token. An expired token is refreshed, and the call repeated once; no redirect is followed. */
  readonly call: Call
  /** Gets an API session certificate, and its key, which never leaves this process. */
  certificate(options?: CertificateOptions): Promise<SessionCertificate>
  /**
   * Ends the session on the server, even if it can no longer be refreshed. Returns the id under which the server says who
   * has confirmed the end, if it gives one.
   */
  logout(): Promise<string | undefined>
  save(): SavedSession
}

export interface SessionOptions extends Pick<Factors, 'secondaryJwt'> {
  /** Stores the tokens. Awaited before a new one is used, so that after a crash the newest ones are stored. */
  readonly onTokens?: ((saved: SavedSession) => void | Promise<void>) | undefined
}

export function createSession(
  deps: {
    readonly wire: Pick<Wire, 'send'>
    readonly provider: Pick<Provider, 'endSession'>
    readonly tokens: Pick<TokenEndpoint, 'refresh'>
    readonly idTokens: IdTokens
    readonly clientId: string
    readonly api: URL
    readonly clock: Pick<Clock, 'now'>
    /** The key of the session, if its tokens are bound to one. */
    readonly key: ProofKey | undefined
    /** Closes what was opened only for this session. */
    readonly close: () => void
  },
  begun: SavedSession,
  options: SessionOptions & {
    /** The one that was passed to the login. */
    readonly firstSecondaryJwt?: string | undefined
  },
): {
  readonly session: Session
  /** For a new session: passes its tokens to `onTokens`. */
  keep(): Promise<void>
} {
  const { wire, clientId, clock, key } = deps
  let state = begun
  let isKept = true
  let keeping: Promise<void> = Promise.resolve()
  /** The refresh token may be spent, and the response was lost. */
  let isInDoubt = false
  /** After a failed refresh: not before this, as long as the token is alive. */
  let retryAt = 0
  let ended: SessionEnded | undefined
  let refreshing: Promise<void> | undefined
  let secondaryJwt = options.firstSecondaryJwt
  let asking: Promise<void> | undefined

  const left = () => state.expiresAt - clock.now()

  /** One call after the other, always with the newest tokens. */
  function keep(): Promise<void> {
    isKept = false
    keeping = keeping
      .catch(() => undefined)
      .then(() => options.onTokens?.(state))
      .then(() => {
        isKept = true
      })
    return keeping
  }

  function refreshOnce(): Promise<void> {
    refreshing ??= refreshNow().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  async function refreshNow(): Promise<void> {
    if (ended !== undefined) throw ended
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
      const { accessToken, expiresAt, lifetimeMilliseconds, idToken, refreshAt } = got
      const { refreshAt: _, ...before } = state
      state = {
        ...before,
        ...(refreshAt === undefined ? {} : { refreshAt }),
        refreshToken: successor,
        accessToken,
        expiresAt,
        lifetimeMilliseconds,
        idToken,
        claims,
      }
    } catch (error) {
      if (error instanceof SessionEnded) ended = error
      throw error
    }
    await keep()
  }

  async function freshToken(): Promise<string> {
    if (ended !== undefined) throw ended
    // Tokens that could not be stored are not used until they are.
    if (!isKept) await (refreshing ?? keep())
    if (isFresh(state, clock.now())) return state.accessToken
    const isAlive = left() > 0
    // D-150: a token in doubt is sent again only if there is nothing left to lose.
    if (isAlive && (state.refreshToken === undefined || isInDoubt)) return state.accessToken
    if (isAlive && clock.now() < retryAt) return state.accessToken
    try {
      await refreshOnce()
    } catch (error) {
      // RFC 6585 §4: a refresh that has to wait says so too.
      const mustWait = error instanceof ServerUnavailable || error instanceof RateLimited
      if (!mustWait || left() <= 0) throw error
      retryAt = clock.now() + (error.retryAfterSeconds ?? RETRY_SECONDS) * 1_000
    }
    return state.accessToken
  }

  const call: Call = async (path, given = {}) => {
    let hasRefreshed = false
    let hasAsked = false
    for (;;) {
      const token = await abortable(freshToken(), given.signal)
      const jwt = secondaryJwt
      const fields = sessionFields(token, key !== undefined, jwt)
      const answer = await sendCall(wireWith(token), deps.api, path, given, fields)
      const fault = answer.status === 401 ? faultOf(answer, clientId) : undefined
      if (fault === undefined) return responseOf(answer)
      if (fault.what === 'secondary-jwt' && !hasAsked) {
        hasAsked = true
        if (jwt === secondaryJwt) await abortable(askOnce(fault.query, answer), given.signal)
      } else if (fault.what === 'token' && !hasRefreshed && state.refreshToken !== undefined) {
        // D-153: not only an expired token; a signing key may have been withdrawn while the session is alive.
        hasRefreshed = true
        if (token === state.accessToken) await abortable(refreshOnce(), given.signal)
      } else {
        throw fault.what === 'token'
          ? new SessionEnded(fault.error, 'the session has ended; log in again', refusalIn(answer))
          : refusalOf(answer, 'the call')
      }
    }
  }

  /** Proves the key with every request that carries the token. */
  function wireWith(token: string): Pick<Wire, 'send'> {
    return key === undefined ? wire : { send: (request) => key.send(wire, request, token) }
  }

  function askOnce(query: ExtJwtQuery, answer: WireAnswer): Promise<void> {
    asking ??= obtainJwt(query, options, refusalIn(answer))
      .then((jwt) => {
        secondaryJwt = jwt
      })
      .finally(() => {
        asking = undefined
      })
    return asking
  }

  const session: Session = {
    id: begun.claims.sid,
    identityId: begun.claims.sub,
    claims: () => state.claims,
    idToken: () => state.idToken,
    accessToken: (given = {}) => abortable(freshToken(), given.signal),
    async authorization({ method, url, nonce }) {
      const accessToken = await freshToken()
      if (key === undefined) return { authorization: `Bearer ${accessToken}` }
      const dpop = key.proof({ method, url: new URL(url), accessToken, nonce })
      return { authorization: `DPoP ${accessToken}`, dpop }
    },
    refresh: refreshOnce,
    call,
    certificate: (given) => requestCertificate(call, begun.claims.sub, given),

    async logout() {
      await refreshing?.catch(() => undefined)
      // D-30: the ID token names the session, even if everything else has expired.
      const fields = { client_id: clientId, id_token_hint: state.idToken }
      const answer = await wire.send(formRequest(deps.provider.endSession, fields))
      if (answer.status !== 200) throw refusalOf(answer, 'the logout')
      ended = over('LOGGED_OUT', 'the session was logged out')
      const { refreshToken: _, ...rest } = state
      state = { ...rest, accessToken: '', expiresAt: instant(0) }
      deps.close()
      return answer.headers.get(ENDING_HEADER) ?? undefined
    },

    save() {
      if (ended !== undefined) throw ended
      return state
    },
  }
  return { session, keep }
}

/** Between two attempts while the server cannot be reached and the token is alive. */
const RETRY_SECONDS = 10

const mayBeSpent = (error: unknown) =>
  error instanceof UnexpectedAnswer || (error instanceof ServerUnavailable && error.mayHaveHappened)

const over = (code: string, message: string) => new SessionEnded(code, message, { status: 0 })
