/**
 * The token endpoint: SPEC Token. A code is exchanged once and never sent again (D-7). A refresh token is sent again
 * only if a response was lost, at once and at most twice: D-27, D-150.
 */
import { isText } from '../base/json.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Instant, instant } from '../base/time/instant.ts'
import { SessionEnded, UnexpectedAnswer } from './errors.ts'
import type { Proof } from './login/authorization.ts'
import type { ProofKey } from './proof-key.ts'
import { codeOf, isLost, jsonOf, refusalIn, refusalOf } from './wire/answers.ts'
import { formRequest, type Wire, type WireAnswer } from './wire/https-wire.ts'
import type { Provider } from './wire/provider.ts'

export interface TokenAnswer {
  readonly accessToken: string
  readonly idToken: string
  readonly refreshToken?: string
  /** By our clock, counted from when the request was sent. */
  readonly expiresAt: Instant
  readonly lifetimeMilliseconds: number
  /** When the server wants to see the next refresh (D-324). */
  readonly refreshAt?: Instant
}

export interface TokenEndpoint {
  exchange(
    code: Pick<Proof, 'redirectUri' | 'verifier' | 'key'> & { readonly code: string },
    signal: AbortSignal | undefined,
  ): Promise<TokenAnswer>
  /** Asks for the tokens of a device (RFC 8628 §3.4). Returns them, or the refusal. */
  poll(
    form: Readonly<Record<string, string>>,
    key: ProofKey | undefined,
    signal: AbortSignal | undefined,
  ): Promise<TokenAnswer | WireAnswer>
  /** Throws SessionEnded if the token is no longer valid; ServerUnavailable. */
  refresh(refreshToken: string, key: ProofKey | undefined): Promise<TokenAnswer>
}

/** D-150: the first attempt and two more. */
const MOST_TRIES = 3

/** Longer than any access token lasts (D-43 allows ten years); larger values are not valid. */
const MOST_SECONDS = 400_000_000

export function createTokenEndpoint(deps: {
  readonly wire: Pick<Wire, 'send'>
  readonly provider: Pick<Provider, 'token'>
  readonly clientId: string
  readonly clock: Pick<Clock, 'now'>
}): TokenEndpoint {
  const { wire, provider, clientId, clock } = deps

  async function post(
    form: Readonly<Record<string, string>>,
    key: ProofKey | undefined,
    signal?: AbortSignal,
  ): Promise<{ readonly answer: WireAnswer; readonly askedAt: Instant }> {
    const askedAt = clock.now()
    const fields = { client_id: clientId, ...form }
    const request = { ...formRequest(provider.token, fields), signal, isAlone: true }
    const answer = await (key === undefined ? wire.send(request) : key.send(wire, request))
    return { answer, askedAt }
  }

  async function tryRefresh(
    refreshToken: string,
    key: ProofKey | undefined,
    wasLost: boolean,
  ): Promise<TokenAnswer> {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken }
    const { answer, askedAt } = await post(form, key)
    if (answer.status === 200) return readTokens(answer, askedAt, key)
    if (codeOf(answer) !== 'invalid_grant') throw refusalOf(answer, 'the refresh')
    const why = wasLost
      ? 'the answer of a refresh was lost, and the server gives it only once'
      : 'the session has ended, or its identity may no longer log in'
    throw new SessionEnded('invalid_grant', `${why}; log in again`, refusalIn(answer))
  }

  return {
    async exchange({ code, redirectUri, verifier, key }, signal) {
      const { answer, askedAt } = await post(
        {
          grant_type: 'authorization_code',
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
        },
        key,
        signal,
      )
      if (answer.status !== 200) throw refusalOf(answer, 'the exchange of the code')
      return readTokens(answer, askedAt, key)
    },

    async poll(form, key, signal) {
      const { answer, askedAt } = await post(form, key, signal)
      if (answer.status >= 500) throw refusalOf(answer, 'the login')
      return answer.status === 200 ? readTokens(answer, askedAt, key) : answer
    },

    async refresh(refreshToken, key) {
      for (let tries = 1; ; tries++) {
        try {
          return await tryRefresh(refreshToken, key, tries > 1)
        } catch (error) {
          if (!isLost(error) || tries === MOST_TRIES) throw error
        }
      }
    },
  }
}

/** RFC 6750 §2.1: what may follow `Bearer`. */
const TOKEN = /^[\w.~+/-]+=*$/

function readTokens(answer: WireAnswer, askedAt: Instant, key: ProofKey | undefined): TokenAnswer {
  const { access_token, id_token, refresh_token, token_type, expires_in, refresh_after } =
    jsonOf(answer) ?? {}
  // RFC 9449 §5: a server that ignored the proof would give us a token that anyone can use.
  const expectedType = key === undefined ? 'bearer' : 'dpop'
  const isOfType = typeof token_type === 'string' && token_type.toLowerCase() === expectedType
  const isTime = typeof expires_in === 'number' && expires_in > 0 && expires_in < MOST_SECONDS
  const isWhole =
    isOfType &&
    isTime &&
    isText(access_token) &&
    TOKEN.test(access_token) &&
    isText(id_token) &&
    (refresh_token === undefined || isText(refresh_token))
  if (!isWhole) throw new UnexpectedAnswer('the answer of the token endpoint cannot be read')
  // Only a hint: an odd one must not keep a client from using its tokens, or make it refresh all the time.
  const isHint = typeof refresh_after === 'number' && refresh_after >= expires_in / 4
  return {
    accessToken: access_token,
    idToken: id_token,
    ...(refresh_token === undefined ? {} : { refreshToken: refresh_token }),
    expiresAt: instant(askedAt + expires_in * 1_000),
    lifetimeMilliseconds: expires_in * 1_000,
    ...(isHint ? { refreshAt: instant(askedAt + refresh_after * 1_000) } : {}),
  }
}
