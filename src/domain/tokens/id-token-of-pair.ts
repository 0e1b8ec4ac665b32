/**
 * The second half of a refresh by token exchange (RFC 8693), as existing clients do it: the refresh token that has just
 * been spent is presented once more, for an ID token. D-315. That is not a reuse; anything beyond it is judged like any
 * other spent token (D-27).
 */
import type { IdentityId } from '../../base/ids.ts'
import { type Duration, inSeconds, seconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { TokenRefusalReason } from '../audit/reasons.ts'
import { refreshTokenHash } from '../factors/refresh-token.ts'
import { checkFinished } from '../login/again/check-finished.ts'
import { isKnownClient } from '../login/known-client.ts'
import { invalid } from '../refusals.ts'
import { idTokenClaims } from './id-token.ts'
import type { TokenPorts } from './ports.ts'
import { replayed, useProof } from './possession/proven-key.ts'
import {
  derivedOrNone,
  mayRepeat,
  type Refresh,
  refuseRecorded,
  refuseSpent,
  sessionToRefresh,
} from './refresh.ts'

/** The client gives itself this long for both calls together. */
const PAIR: Duration = seconds(30)

export interface IdTokenOfPair {
  readonly identityId: IdentityId
  readonly idToken: string
  readonly expiresInSeconds: number
}

/**
 * Throws INVALID_CLIENT, INVALID_REFRESH_TOKEN, INVALID_DPOP_PROOF; COULD_NOT_VALIDATE if the token has not been refreshed first, which costs
 * the client nothing.
 */
export async function idTokenOfPair(
  ports: TokenPorts,
  { clientId, refreshToken, key, caller }: Omit<Refresh, 'scope'>,
): Promise<IdTokenOfPair> {
  const { vault, clock, refreshTokens, apiSessions, signingKeys, idTokenLife } = ports
  if (!isKnownClient(ports, clientId)) throw new Failure('INVALID_CLIENT')
  const now = clock.now()
  const hash = refreshTokenHash(vault, refreshToken)
  const found = await refreshTokens.find(hash)
  if (found === undefined) throw new Failure('INVALID_REFRESH_TOKEN', { detail: 'unknown' })
  const stored = await apiSessions.find(found.sessionId)
  const refuseAs = (reason: TokenRefusalReason) =>
    refuseRecorded(ports, found.sessionId, stored?.identityId, reason, caller)
  const session = await sessionToRefresh(found, stored, { clientId, key }, now, refuseAs)
  const { spent } = found
  if (spent === undefined) {
    throw invalid('requested_token_type', 'must first be that of a refresh token')
  }
  const successor = await refreshTokens.find(spent.successor)
  // A successor that was used means that the client has this answer behind it.
  const isOpen = now < plus(spent.at, PAIR) && successor !== undefined && !successor.spent
  if (!isOpen) throw await refuseSpent(ports, found, session, now, caller)
  const owner = await checkFinished(ports, session, 'session')
  if ('refusal' in owner) throw await refuseAs(owner.refusal)
  const { identity, username } = owner
  const grant = { session, identity, username, nonce: undefined, life: idTokenLife }
  const claims = idTokenClaims({ ...grant, issuedWith: undefined }, now)
  const idToken = await signingKeys.sign('id', () => claims)
  // One statement: of several of these calls, one is the second of the pair.
  if (!(await useProof(ports, key))) throw replayed()
  const taken = { hash: vault.hash('refresh-pair', hash), expiresAt: found.expiresAt }
  if (!(await ports.spentStates.insert(taken))) {
    const again = derivedOrNone(ports, refreshToken)
    const isRetry = again !== undefined && (await mayRepeat(ports, found, again))
    if (!isRetry) throw await refuseSpent(ports, found, session, now, caller)
  }
  return { identityId: identity.id, idToken, expiresInSeconds: inSeconds(idTokenLife) }
}
