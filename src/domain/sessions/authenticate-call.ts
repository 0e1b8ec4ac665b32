/**
 * Whether a credential is good for an API call. The one function that decides it; every route asks it.
 * SPEC Authentication 1 and 401 challenges; D-35, D-36. No look-up: signature, times and the copy of ended
 * sessions.
 */
import type { Secret } from '../../base/secret.ts'
import { Failure } from '../../errors/catalogue.ts'
import {
  bearerExpired,
  bearerInvalid,
  type Challenge,
  missingToken,
  ztSessionInvalid,
} from '../../protocol/challenge.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { ACCESS_TOKEN_TYP } from '../../protocol/service-claims.ts'
import { type CallSession, readAccessToken } from '../tokens/access-token.ts'
import { claimedIssuer } from '../tokens/claimed-issuer.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import type { EndedSessions } from './ended-sessions.ts'

export interface CallCredentials {
  /** Every bearer token of the request, in order (D-14). */
  readonly bearers: readonly Secret[]
  readonly ztSession: Secret | undefined
}

/** The session the call belongs to. Anything else is thrown: UNAUTHORIZED with the challenge that fits. */
export type AuthenticateCall = (credentials: CallCredentials) => Promise<CallSession>

/** D-14. */
const MOST_BEARERS = 3

export function createAuthenticateCall(deps: {
  readonly brand: string
  readonly issuers: () => readonly Issuer[]
  readonly signingKeys: Pick<SigningKeys, 'verify'>
  readonly endedSessions: Pick<EndedSessions, 'has' | 'isStale'>
}): AuthenticateCall {
  const { brand, signingKeys, endedSessions } = deps

  return async ({ bearers, ztSession }) => {
    // D-36: `zt-session` goes first; beside it a bearer token is no credential of ours (R068).
    if (ztSession !== undefined) throw unauthorized([ztSessionInvalid()], 'unknown zt-session')

    const token = ownToken(bearers)
    const issuers = deps.issuers()
    const verification = await signingKeys.verify(token.reveal(), {
      typ: ACCESS_TOKEN_TYP,
      audience: brand,
      issuers,
    })
    if (verification.outcome === 'expired') {
      throw unauthorized([bearerExpired(brand)], 'the access token has expired')
    }
    if (verification.outcome === 'invalid') throw invalid(verification.why)
    const session = readAccessToken(verification.payload)
    if (session === undefined) throw invalid('not the claims of an access token')
    if (endedSessions.isStale()) throw new Failure('NOT_READY', { retryAfterSeconds: 1 })
    if (endedSessions.has(session.sessionId)) throw invalid('the session has ended')
    return session
  }

  /** The bearer token that claims to be ours. D-35: which word fits when there is none. */
  function ownToken(bearers: readonly Secret[]): Secret {
    if (bearers.length > MOST_BEARERS) throw invalid('too many bearer tokens')
    const issuers: readonly string[] = deps.issuers()
    const claims = bearers.map((token) => ({ token, issuer: claimedIssuer(token) }))
    const ours = claims.filter(
      ({ issuer }) => typeof issuer === 'string' && issuers.includes(issuer),
    )
    const [first, ...others] = ours
    if (others.length > 0) throw invalid('two tokens of our own')
    if (first !== undefined) return first.token
    if (claims.some(({ issuer }) => typeof issuer !== 'string')) throw invalid('no readable JWT')
    throw unauthorized(missingToken(brand), 'no token of ours')
  }

  function invalid(detail: string): Failure {
    return unauthorized([bearerInvalid(brand)], detail)
  }
}

function unauthorized(challenges: readonly Challenge[], detail: string): Failure {
  return new Failure('UNAUTHORIZED', { challenges, detail })
}
