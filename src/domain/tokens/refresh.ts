/**
 * `grant_type=refresh_token`: spends a refresh token and issues new tokens. SPEC Refresh token; D-27, RFC 9700 §4.14.2.
 *
 * All checks come before the token is spent. Spending it, storing its successor and moving the end of the session are
 * one commit, made before the response is sent. If a spent token is presented again, either the response was lost or
 * the token was stolen: whether its successor has been used, and the time, decide which.
 */

import type { Secret } from '../../base/secrets/secret.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { type Instant, later, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { TokenRefusalReason } from '../audit/reasons.ts'
import { record, recordEvent } from '../audit/record.ts'
import {
  derivedSuccessor,
  newRefreshToken,
  type RefreshToken,
  refreshTokenHash,
} from '../factors/refresh-token.ts'
import { checkFinished } from '../login/again/check-finished.ts'
import { isKnownClient } from '../login/known-client.ts'
import type { ApiSession, OidcSession } from '../sessions/api-session.ts'
import { endSession } from '../sessions/ending/end-session.ts'
import { storedRefreshToken } from './issue.ts'
import { type SignedTokens, signTokens } from './keys/sign-tokens.ts'
import type { TokenPorts } from './ports.ts'
import { type ProvenKey, replayed, useProof } from './possession/proven-key.ts'
import { recordRefusal } from './record-refusal.ts'
import type { OwnedRefreshToken, SpendingOutcome } from './stores.ts'

/** D-27: a repeat this soon, of a token whose successor is unused, is not treated as theft. */
const LOST_ANSWER: Duration = seconds(10)

export interface Refresh {
  readonly clientId: string
  readonly refreshToken: Secret
  /** Narrows the access token; undefined means all granted scopes. */
  readonly scope: string | undefined
  /** The key that the client proved, if it did (RFC 9449 §5). */
  readonly key?: ProvenKey | undefined
  readonly caller: Caller
}

export interface RefreshedTokens extends SignedTokens {
  readonly refreshToken: Secret
}

/** Throws INVALID_CLIENT, INVALID_REFRESH_TOKEN, INVALID_SCOPE, INVALID_DPOP_PROOF. */
export async function refresh(
  ports: TokenPorts,
  { clientId, refreshToken, scope, key, caller }: Refresh,
): Promise<RefreshedTokens> {
  const { vault, random, clock, refreshTokens } = ports
  if (!isKnownClient(ports, clientId)) throw new Failure('INVALID_CLIENT')
  const now = clock.now()
  const owned = await refreshTokens.findOwned(refreshTokenHash(vault, refreshToken))
  if (owned === undefined) throw refuse('unknown')
  const { token: found } = owned
  const refuseAs = (reason: TokenRefusalReason): Promise<Failure> =>
    refuseRecorded(ports, found.sessionId, owned.session?.identityId, reason, caller)
  const session = await sessionToRefresh(found, owned.session, { clientId, key }, now, refuseAs)

  const successor = derivedOrNone(ports, refreshToken) ?? newRefreshToken(random)
  const isRepeat = found.spent !== undefined
  if (isRepeat && !(await mayRepeat(ports, found, successor))) {
    throw await refuseSpent(ports, found, session, now, caller)
  }
  const granted = narrowScope(session, scope)
  // R047, D-119: check the current state of the identity, its policy and its credential.
  const owner = await checkFinished(asRead(ports, owned), session, 'session')
  if ('refusal' in owner) throw await refuseAs(owner.refusal)
  const { identity, username } = owner
  const tokens = await signTokens(ports, {
    session,
    identity,
    username,
    scope: granted,
    // A session from before its client used DPoP stays as it is; the access token is bound (D-453).
    boundKey: session.boundKey ?? key?.jkt,
    nonce: undefined,
  })
  const outcome = isRepeat
    ? await useAgain(ports, key)
    : await spend(ports, found, session, successor, tokens, { key, caller })
  if (outcome === 'replayed') throw replayed()
  if (outcome === 'taken') {
    // This may be a repeat of a request that was still in progress when we checked.
    const spent = await refreshTokens.find(found.hash)
    if (spent === undefined || !(await mayRepeat(ports, spent, successor))) {
      throw await refuseAs('refresh-token-spent')
    }
  } else if (outcome !== 'spent') throw await refuseAs(outcome)
  return { ...tokens, refreshToken: successor }
}

/** Returns the session of the token, if this client may refresh it. `refuseAs` records why not. */
export async function sessionToRefresh(
  { expiresAt }: RefreshToken,
  session: ApiSession | undefined,
  { clientId, key }: Pick<Refresh, 'clientId' | 'key'>,
  now: Instant,
  refuseAs: (reason: TokenRefusalReason) => Promise<Failure>,
): Promise<OidcSession> {
  if (expiresAt <= now) throw await refuseAs('refresh-token-expired')
  if (session?.kind !== 'oidc' || session.endsAt <= now) throw await refuseAs('session-ended')
  // R031, RFC 6749 §6: a refresh token is for the client that it was issued to, and another one does not spend it.
  if (session.clientId !== clientId) throw await refuseAs('client-mismatch')
  // RFC 9449 §5: a session that began with a key is refreshed with it, never without (D-453).
  const { boundKey } = session
  if (boundKey === undefined || key?.jkt === boundKey) return session
  const refusal = await refuseAs('key-mismatch')
  throw key === undefined
    ? new Failure('INVALID_DPOP_PROOF', { detail: 'the session is bound to a key' })
    : refusal
}

/**
 * A repeat spends nothing but its proof. The refresh that it repeats may be committed and not on the disk yet: an empty
 * transaction waits for that (D-471).
 */
async function useAgain(
  ports: TokenPorts,
  key: ProvenKey | undefined,
): Promise<'spent' | 'replayed'> {
  if (!(await useProof(ports, key))) return 'replayed'
  await ports.transaction(async () => {})
  return 'spent'
}

/** The response gives no reason (D-28); the event does. */
export async function refuseRecorded(
  ports: TokenPorts,
  sessionId: OidcSession['id'],
  identityId: OidcSession['identityId'] | undefined,
  reason: TokenRefusalReason,
  caller: Caller,
): Promise<Failure> {
  await recordRefusal(ports, { identityId, sessionId, reason, caller })
  return refuse(reason)
}

/** One commit: of fifty parallel requests one succeeds (R038, R040). */
async function spend(
  ports: TokenPorts,
  { hash }: RefreshToken,
  session: OidcSession,
  successor: Secret,
  tokens: SignedTokens,
  { key, caller }: Pick<Refresh, 'key' | 'caller'>,
): Promise<SpendingOutcome> {
  const now = ports.clock.now()
  const { identityId, id: sessionId } = session
  const details = { scope: tokens.scope }
  const refreshed = { type: 'token.refreshed', identityId, sessionId, details } as const
  const { accessTokenExpiresAt: tokenEnd } = tokens
  const stored = storedRefreshToken(ports, successor, session, now)
  return ports.spendRefreshToken({
    at: now,
    hash,
    successor: stored,
    primary: session.primary,
    // D-53; but never before the access token, which always has its full lifetime (D-24) and can be ended until then.
    expiresAt: later(stored.expiresAt, tokenEnd),
    tokensEndAt: tokenEnd,
    proof: key?.use,
    event: recordEvent(ports, caller, refreshed),
  })
}

/** What the check reads was read with the token. */
function asRead(
  { clock, rules }: TokenPorts,
  { identity, authenticators, passkey }: OwnedRefreshToken,
): Parameters<typeof checkFinished>[0] {
  return {
    clock,
    rules,
    identities: { find: async () => identity },
    authenticators: {
      find: async (id) => authenticators.find((one) => one.id === id),
      listOf: async () => authenticators,
    },
    passkeys: { find: async () => passkey },
  }
}

/** The successor that a repeat gets; undefined where there are no repeats. */
export function derivedOrNone(
  { vault, refreshRetryWindow }: Pick<TokenPorts, 'vault' | 'refreshRetryWindow'>,
  refreshToken: Secret,
): Secret | undefined {
  return refreshRetryWindow > 0 ? derivedSuccessor(vault, refreshToken) : undefined
}

/** `refreshRetryWindow`, D-115: returns the same successor again, until it is used. */
export async function mayRepeat(
  { vault, clock, refreshTokens, refreshRetryWindow }: TokenPorts,
  { spent }: RefreshToken,
  successor: Secret,
): Promise<boolean> {
  if (spent === undefined || plus(spent.at, refreshRetryWindow) <= clock.now()) return false
  // Successors from before the window was configured were random and cannot be derived again.
  if (spent.successor !== refreshTokenHash(vault, successor)) return false
  const stored = await refreshTokens.find(spent.successor)
  return stored !== undefined && stored.spent === undefined
}

/** Decides whether a spent token that comes again is a lost answer or a theft (D-27), and acts on it. */
export async function refuseSpent(
  ports: TokenPorts,
  { spent }: RefreshToken,
  { id: sessionId, identityId }: OidcSession,
  now: Instant,
  caller: Caller,
): Promise<Failure> {
  const successor = spent && (await ports.refreshTokens.find(spent.successor))
  const isFresh = spent !== undefined && now < plus(spent.at, LOST_ANSWER)
  if (isFresh && successor?.spent === undefined) {
    return refuseRecorded(ports, sessionId, identityId, 'refresh-token-spent', caller)
  }
  // R039: ends only that session; other sessions of the identity have their own tokens.
  const reused = { type: 'token.reused', identityId, sessionId } as const
  await record(ports, ports, caller, reused)
  await endSession(ports, { sessionId, identityId, reason: 'refresh-token-reused', caller })
  return refuse('a spent refresh token was used again')
}

/** RFC 6749 §6, R045: allows less than was granted, never more. An invalid scope does not spend the token. */
function narrowScope({ scopes }: OidcSession, asked: string | undefined): string {
  if (asked === undefined) return scopes.join(' ')
  const words = asked.split(' ').filter((word) => word !== '')
  const isGranted = words.length > 0 && words.every((word) => scopes.some((one) => one === word))
  if (!isGranted) throw new Failure('INVALID_SCOPE')
  return scopes.filter((one) => words.includes(one)).join(' ')
}

function refuse(detail: string): Failure {
  return new Failure('INVALID_REFRESH_TOKEN', { detail })
}
