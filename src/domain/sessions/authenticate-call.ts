/**
 * Whether a credential is good for an API call. The one function that decides it; every route asks it.
 * SPEC Authentication 1 and 401 challenges; D-35, D-36, D-52. A bearer call needs no look-up: signature, times, and
 * the copies of ended sessions, policies and signers.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import { Failure } from '../../errors/catalogue.ts'
import {
  bearerExpired,
  bearerInvalid,
  type Challenge,
  missingToken,
} from '../../protocol/challenge.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { isBoundElsewhere } from '../../protocol/policy-demands.ts'
import { ACCESS_TOKEN_TYP } from '../../protocol/service-claims.ts'
import { MOST_BEARERS } from '../factors/external-jwt.ts'
import type { Rules } from '../policies/rules.ts'
import { type AccessToken, certificateThumbprint, readAccessToken } from '../tokens/access-token.ts'
import { claimedIssuer } from '../tokens/claimed-issuer.ts'
import type { SigningKeys } from '../tokens/keys/signing-keys.ts'
import type { CallNeeds, CallSession } from './call-session.ts'
import type { DemandSecondaryJwt } from './demand-secondary-jwt.ts'
import type { EndedSessions } from './ending/ended-sessions.ts'
import { createJudgeToken } from './judge-token.ts'
import type { LegacySessions } from './legacy-sessions.ts'

export interface CallCredentials {
  /** Every bearer token of the request, in order (D-14). */
  readonly bearers: readonly Secret[]
  readonly ztSession: Secret | undefined
  /** SHA-256 of the connection's client certificate, lower-case hex; asked for only where a token is bound to one. */
  readonly certificate: () => string | undefined
}

/** The session the call belongs to. Anything else is thrown: UNAUTHORIZED with the challenge that fits. */
export type AuthenticateCall = (
  credentials: CallCredentials,
  needs: CallNeeds,
) => Promise<CallSession>

export function createAuthenticateCall(deps: {
  readonly brand: string
  readonly issuers: () => readonly Issuer[]
  readonly signingKeys: Pick<SigningKeys, 'verify'>
  readonly endedSessions: Pick<EndedSessions, 'has' | 'isStale'>
  readonly rules: Pick<Rules, 'policy' | 'demands' | 'isStale'>
  readonly legacySessions: Pick<LegacySessions, 'authenticate'>
  readonly demandSecondaryJwt: DemandSecondaryJwt
}): AuthenticateCall {
  const { brand, signingKeys, endedSessions, rules, legacySessions } = deps
  const judgeToken = createJudgeToken(deps)

  return async (credentials, needs) => {
    const { bearers, ztSession } = credentials
    // D-36: `zt-session` goes first; beside it every bearer token counts as an external JWT (R068).
    if (ztSession !== undefined) {
      refuseStale()
      return legacySessions.authenticate(ztSession, bearers, needs)
    }
    const own = ownToken(bearers)
    const token = await verify(own)
    refuseStale()
    const ended = judgeToken.ended(token)
    if (ended !== undefined) throw invalid(ended)
    if (needs !== 'logout') {
      const others = bearers.filter((bearer) => bearer !== own)
      await checkPolicy(token, others, credentials.certificate)
    }
    return {
      kind: 'oidc',
      sessionId: token.sessionId,
      identityId: token.identityId,
      isAdmin: token.isAdmin,
      authPolicyId: token.authPolicyId,
      configTypes: token.configTypes,
      expiresAt: token.expiresAt,
      isPartial: undefined,
    }
  }

  /** D-34: an instance that may not know of an end refuses rather than guesses. */
  function refuseStale(): void {
    if (endedSessions.isStale() || rules.isStale()) {
      throw new Failure('NOT_READY', { retryAfterSeconds: 1 })
    }
  }

  async function verify(token: Secret): Promise<AccessToken> {
    const verification = await signingKeys.verify(token.reveal(), {
      typ: ACCESS_TOKEN_TYP,
      audience: brand,
      issuers: deps.issuers(),
    })
    if (verification.outcome === 'expired') {
      throw unauthorized([bearerExpired(brand)], 'the access token has expired')
    }
    if (verification.outcome === 'invalid') throw invalid(verification.why)
    const read = readAccessToken(verification.payload)
    if (read === undefined) throw invalid('not the claims of an access token')
    return read
  }

  /** What the policy demands now, which may be more than the login had to prove (D-52). */
  async function checkPolicy(
    token: AccessToken,
    others: readonly Secret[],
    certificate: CallCredentials['certificate'],
  ): Promise<void> {
    const unmet = judgeToken.unmet(token)
    const policy = rules.policy(token.authPolicyId)
    const demands = rules.demands(token.authPolicyId)
    if (unmet !== undefined || policy === undefined || demands === undefined) {
      throw invalid(`the policy does not accept this session any more: ${unmet}`)
    }
    const presented = () => {
      const fingerprint = certificate()
      return fingerprint === undefined ? undefined : certificateThumbprint(fingerprint)
    }
    if (isBoundElsewhere(demands, token.boundTo, presented)) {
      throw invalid('the certificate that the token is bound to is missing') // R072
    }
    await deps.demandSecondaryJwt(policy, token, others, [])
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
