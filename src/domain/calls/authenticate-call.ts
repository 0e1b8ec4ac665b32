/**
 * Decides whether a credential is valid for an API call; every route uses this one function. SPEC Authentication 1 and
 * 401 challenges; D-35, D-36, D-52. A bearer call needs no look-up: only the signature, which is checked once for each
 * token (D-279), the times, and the copies of ended sessions, policies and signers.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import { Failure } from '../../errors/catalogue.ts'
import {
  bearerExpired,
  bearerInvalid,
  type Challenge,
  dpopChallenge,
  missingToken,
} from '../../protocol/challenge.ts'
import { isBoundElsewhere, outgrownChallenges } from '../../protocol/policy-demands.ts'
import { claimedIssuer } from '../ext-jwt/claimed-issuer.ts'
import { MOST_BEARERS } from '../factors/external-jwt.ts'
import { refuseStale } from '../policies/rules.ts'
import type { CallNeeds, CallSession } from '../sessions/call-session.ts'
import { demandSecondaryJwt } from '../sessions/demand-secondary-jwt.ts'
import { authenticateLegacySession, type LegacyCallPorts } from '../sessions/legacy-sessions.ts'
import { type AccessToken, certificateThumbprint, readAccessToken } from '../tokens/access-token.ts'
import { tokenEnd, unmetDemandOf } from '../tokens/judge-token.ts'
import type { VerifiedToken } from '../tokens/keys/verified-tokens.ts'
import { useProof } from '../tokens/possession/proven-key.ts'
import type { CallPorts } from './ports.ts'
import { type DpopCredentials, provePossession, refuseReplay } from './prove-possession.ts'

export interface CallCredentials {
  /** Every bearer token of the request, in order (D-14). */
  readonly bearers: readonly Secret[]
  /** What the request has in the scheme DPoP (RFC 9449 §7.1). */
  readonly dpop?: DpopCredentials
  /** The seal of our own pages' cookie stands for the proof that a policy requires (D-455). */
  readonly isSealed?: true
  readonly ztSession: Secret | undefined
  /** SHA-256 of the connection's client certificate, lower-case hex; called only if a token is bound to one. */
  readonly certificate: () => string | undefined
}

/** Returns the session of the call. Otherwise throws UNAUTHORIZED with the matching challenge. */
export async function authenticateCall(
  ports: AuthenticationPorts,
  credentials: CallCredentials,
  needs: CallNeeds,
): Promise<CallSession> {
  const { bearers, ztSession } = credentials
  // D-36: `zt-session` takes precedence; with it, every bearer token counts as an external JWT (R068).
  if (ztSession !== undefined) {
    refuseStale(ports.endedSessions, ports.rules)
    return authenticateLegacySession(ports, ztSession, bearers, needs)
  }
  const { dpop } = credentials
  const scheme = schemeOf(dpop)
  const own = ownToken(ports, scheme, dpop === undefined ? bearers : [...dpop.tokens, ...bearers])
  const token =
    own.known === undefined
      ? await verify(ports, scheme, own.bearer)
      : recall(ports, scheme, own.known)
  refuseStale(ports.endedSessions, ports.rules)
  const ended = tokenEnd(ports, token)
  if (ended !== undefined) throw invalid(ports, scheme, ended)
  const key = await provePossession(ports, token, own.bearer, dpop)
  if (needs !== 'logout') {
    const others = bearers.filter((bearer) => bearer !== own.bearer)
    await checkPolicy(ports, scheme, token, others, credentials)
  }
  // Last, because it writes: a proof of an accepted call counts once, on all instances (D-450).
  if (!(await useProof(ports, key))) throw refuseReplay(ports.brand)
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

type AuthenticationPorts = LegacyCallPorts &
  Pick<CallPorts, 'issuers' | 'signingKeys' | 'verifiedTokens' | 'dpopNonces' | 'usedProofs'>

/** The challenge of a refusal is in the scheme of the request (RFC 9449 §7.1). */
type Scheme = 'Bearer' | 'DPoP'

function schemeOf(dpop: DpopCredentials | undefined): Scheme {
  return dpop !== undefined && dpop.tokens.length > 0 ? 'DPoP' : 'Bearer'
}

async function verify(
  ports: AuthenticationPorts,
  scheme: Scheme,
  bearer: Secret,
): Promise<AccessToken> {
  const verification = await ports.signingKeys.verify('access', bearer.reveal(), {
    audience: ports.brand,
    issuers: ports.issuers(),
  })
  if (verification.outcome === 'expired') throw expired(ports, scheme)
  if (verification.outcome === 'invalid') throw invalid(ports, scheme, verification.why)
  const { payload, kid } = verification
  const token = readAccessToken(payload)
  if (token === undefined) throw invalid(ports, scheme, 'not the claims of an access token')
  // We sign no `nbf`, so it is not among what `recall` checks again.
  if (payload.nbf === undefined) ports.verifiedTokens.add(bearer, { kid, token })
  return token
}

/** Checks again what may have changed since the token was verified (D-279). `ownToken` has checked its issuer. */
function recall(
  ports: AuthenticationPorts,
  scheme: Scheme,
  { kid, token }: VerifiedToken,
): AccessToken {
  if (!ports.signingKeys.isPublished(kid))
    throw invalid(ports, scheme, 'its key is not published any more')
  if (token.expiresAt <= ports.clock.now()) throw expired(ports, scheme)
  return token
}

/** What the policy demands now, which may be more than the login had to prove (D-52). */
async function checkPolicy(
  ports: AuthenticationPorts,
  scheme: Scheme,
  token: AccessToken,
  others: readonly Secret[],
  { certificate, isSealed }: CallCredentials,
): Promise<void> {
  const unmet = unmetDemandOf(ports, isSealed ? { ...token, boundKey: 'sealed' } : token)
  const policy = ports.rules.policy(token.authPolicyId)
  const demands = ports.rules.demands(token.authPolicyId)
  if (unmet !== undefined || policy === undefined || demands === undefined) {
    const challenges = outgrownChallenges(ports.brand, invalidToken(ports.brand, scheme), unmet)
    throw unauthorized(challenges, `the policy does not accept this session any more: ${unmet}`)
  }
  const presented = () => {
    const fingerprint = certificate()
    return fingerprint === undefined ? undefined : certificateThumbprint(fingerprint)
  }
  if (isBoundElsewhere(demands, token, presented)) {
    const detail = 'the certificate that the token is bound to is missing' // R072
    const challenges = [bearerInvalid(ports.brand)]
    throw new Failure('UNAUTHORIZED', { challenges, detail, next: 'present-certificate' })
  }
  await demandSecondaryJwt(ports, policy, token, others, [])
}

interface OwnToken {
  readonly bearer: Secret
  /** If it was verified before. */
  readonly known: VerifiedToken | undefined
}

/** Returns the bearer token that claims to be ours. If there is none, D-35 decides which challenge is thrown. */
function ownToken(
  ports: AuthenticationPorts,
  scheme: Scheme,
  bearers: readonly Secret[],
): OwnToken {
  if (bearers.length > MOST_BEARERS) throw invalid(ports, scheme, 'too many bearer tokens')
  const issuers: readonly string[] = ports.issuers()
  const claims = bearers.map((bearer) => {
    const known = ports.verifiedTokens.find(bearer)
    return {
      bearer,
      known,
      issuer: known === undefined ? claimedIssuer(bearer) : known.token.issuer,
    }
  })
  const ours = claims.filter(({ issuer }) => typeof issuer === 'string' && issuers.includes(issuer))
  const [first, ...others] = ours
  if (others.length > 0) throw invalid(ports, scheme, 'two tokens of our own')
  if (first !== undefined) return first
  if (claims.some(({ issuer }) => typeof issuer !== 'string')) {
    throw invalid(ports, scheme, 'no readable JWT')
  }
  throw unauthorized(missingToken(ports.brand), 'no token of ours')
}

function expired({ brand }: AuthenticationPorts, scheme: Scheme): Failure {
  const challenge = scheme === 'DPoP' ? dpopChallenge(brand, 'expired') : bearerExpired(brand)
  return unauthorized([challenge], 'the access token has expired')
}

function invalid({ brand }: AuthenticationPorts, scheme: Scheme, detail: string): Failure {
  return unauthorized([invalidToken(brand, scheme)], detail)
}

function invalidToken(brand: string, scheme: Scheme): Challenge {
  return scheme === 'DPoP' ? dpopChallenge(brand, 'invalid') : bearerInvalid(brand)
}

function unauthorized(challenges: readonly Challenge[], detail: string): Failure {
  return new Failure('UNAUTHORIZED', { challenges, detail })
}
