/**
 * Calls with a `zt-session` token. D-36, D-51, D-52, D-225: one read by the token's hash, cached for at most a second;
 * every call renews the session, which is written at most every tenth of the idle timeout.
 */

import type { Secret } from '../../base/secrets/secret.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import { earlier, type Instant, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { AuthQuery } from '../../protocol/auth-query.ts'
import { ztSessionInvalid } from '../../protocol/challenge.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { EnrolledPorts } from '../factors/second-factor.ts'
import { secondFactor } from '../factors/second-factors.ts'
import { type Identity, isDisabled } from '../identities/identity.ts'
import { completeProof } from '../login/again/complete-proof.ts'
import { refuseProof } from '../login/again/refuse-proof.ts'
import type { CallNeeds, CallSession } from './call-session.ts'
import { demandSecondaryJwt } from './demand-secondary-jwt.ts'
import type { CachedSession } from './legacy-session-cache.ts'
import type { SessionPorts } from './ports.ts'
import { openFactors } from './session-detail.ts'

export type LegacyCallPorts = Pick<
  SessionPorts,
  | keyof EnrolledPorts
  | 'brand'
  | 'vault'
  | 'clock'
  | 'apiSessions'
  | 'identities'
  | 'authenticators'
  | 'rules'
  | 'signerKeys'
  | 'endedSessions'
  | 'legacySessionCache'
  | 'sessionTimeout'
>

/** D-36: a call writes only if this fraction of the timeout has passed since the last write. */
const WRITE_PART = 10

/** Throws UNAUTHORIZED with the challenge of D-36, or of the demanded external JWT. */
export async function authenticateLegacySession(
  ports: LegacyCallPorts,
  token: Secret,
  bearers: readonly Secret[],
  needs: CallNeeds,
): Promise<CallSession> {
  const { clock, rules } = ports
  const tokenHash = ports.vault.hash('session-token', token.reveal())
  const found = ports.legacySessionCache.find(tokenHash) ?? (await readSession(ports, tokenHash))
  const now = clock.now()
  if (found === undefined) throw invalid('unknown zt-session')
  const { session, identity } = found
  if (ports.endedSessions.has(session.id)) throw invalid('the session has ended')
  if (session.expiresAt <= now) throw invalid('the session has expired')
  if (isDisabled(identity, now)) throw invalid('the identity is disabled')
  const policy = rules.policy(identity.authPolicyId)
  if (policy === undefined) throw invalid('the policy is gone')

  // D-225: what the login proved must still be accepted, except for a logout (D-52).
  const withdrawn =
    needs === 'logout' ? undefined : refuseProof(session.primary, policy, rules, now)
  if (withdrawn !== undefined) throw invalid(withdrawn)
  // D-454: the token is bound to nothing.
  if (needs !== 'logout' && policy.secondary.requireBoundToken) throw invalid('token-not-bound')

  const open = await queriesOf(ports, openFactors(session, policy), identity)
  // D-112: demanded also if the call does not need a full session.
  if (needs !== 'logout') {
    const owner = { identityId: identity.id, externalId: identity.externalId }
    await demandSecondaryJwt(ports, policy, owner, bearers, open)
  }
  const isPartial = open.length === 0 ? undefined : partial(open)
  if (isPartial !== undefined && needs === 'full') throw isPartial
  return {
    kind: 'legacy',
    sessionId: session.id,
    identityId: identity.id,
    isAdmin: identity.isAdmin,
    authPolicyId: identity.authPolicyId,
    configTypes: session.configTypes,
    expiresAt: await renew(ports, tokenHash, found, now),
    isPartial,
  }
}

async function readSession(
  ports: LegacyCallPorts,
  tokenHash: SecretHash,
): Promise<CachedSession | undefined> {
  const readAt = ports.clock.uptime()
  const session = await ports.apiSessions.findLegacy(tokenHash)
  const identity = session && (await ports.identities.find(session.identityId))
  // Do not cache invalid tokens: anonymous callers could fill the memory.
  if (session === undefined || identity === undefined) return undefined
  const primary = await completeProof(session.primary, ports.authenticators, ports.rules)
  const entry = { session: { ...session, primary }, identity, readAt }
  ports.legacySessionCache.keep(tokenHash, entry)
  return entry
}

/** Returns the end of the session after this call, as stored (D-113). */
async function renew(
  { sessionTimeout, apiSessions, legacySessionCache }: LegacyCallPorts,
  tokenHash: SecretHash,
  found: CachedSession,
  now: Instant,
): Promise<Instant> {
  const { session } = found
  if (now - session.lastActivityAt < sessionTimeout / WRITE_PART) return session.expiresAt
  const expiresAt = earlier(plus(now, sessionTimeout), session.endsAt)
  await apiSessions.renewLegacy(session.id, now, expiresAt)
  const renewed = { ...session, lastActivityAt: now, expiresAt }
  legacySessionCache.keep(tokenHash, { ...found, session: renewed })
  return expiresAt
}

function queriesOf(
  ports: LegacyCallPorts,
  factors: readonly SecondFactorId[],
  { id: identityId }: Identity,
): Promise<readonly AuthQuery[]> {
  return Promise.all(
    factors.map(async (id) => {
      const factor = secondFactor(id)
      return factor.query(ports.brand, 'legacy', await factor.isEnrolled(ports, identityId))
    }),
  )
}

/** D-51. */
function partial(authQueries: readonly AuthQuery[]): Failure {
  const detail = 'a second factor is outstanding'
  return new Failure('UNAUTHORIZED', { challenges: [ztSessionInvalid()], authQueries, detail })
}

function invalid(detail: string): Failure {
  return new Failure('UNAUTHORIZED', { challenges: [ztSessionInvalid()], detail })
}
