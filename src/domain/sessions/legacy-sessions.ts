/**
 * Calls with a `zt-session` token. D-36, D-51, D-52, D-225: one read by the token's hash, cached for at most a second;
 * every call renews the session, which is written at most every tenth of the idle timeout.
 */

import type { ApiSessionId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { SecretHash, Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { earlier, type Instant, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { type TotpQuery, totpQuery } from '../../protocol/auth-query.ts'
import { ztSessionInvalid } from '../../protocol/challenge.ts'
import type { TotpEnrollments } from '../factors/stores.ts'
import { type Identity, isDisabled } from '../identities/identity.ts'
import type { Authenticators, Identities } from '../identities/stores.ts'
import { completeProof } from '../login/again/complete-proof.ts'
import { refuseProof } from '../login/again/refuse-proof.ts'
import type { Rules } from '../policies/rules.ts'
import type { LegacySession } from './api-session.ts'
import type { CallNeeds, CallSession } from './call-session.ts'
import type { DemandSecondaryJwt } from './demand-secondary-jwt.ts'
import type { EndedSessions } from './ending/ended-sessions.ts'
import { isTotpOpen } from './session-detail.ts'
import type { ApiSessions } from './stores.ts'

export interface LegacySessions {
  /** Thrown: UNAUTHORIZED with the challenge of D-36, or of the demanded external JWT. */
  authenticate(token: Secret, bearers: readonly Secret[], needs: CallNeeds): Promise<CallSession>
  /** What is known of the session has changed here: it is read again. */
  forget(id: ApiSessionId): void
}

/** D-36. */
const KEPT_FOR: Duration = seconds(1)
/** Sessions that are kept at the most; each is a small object. */
const MOST_KEPT = 10_000
/** D-36: a call writes only when this part of the timeout has passed since the last write. */
const WRITE_PART = 10

interface Kept {
  readonly session: LegacySession
  readonly identity: Identity
  readonly readAt: Duration
}

export function createLegacySessions(deps: {
  readonly brand: string
  readonly vault: Vault
  readonly clock: Clock
  readonly apiSessions: Pick<ApiSessions, 'findLegacy' | 'renewLegacy'>
  readonly identities: Pick<Identities, 'find'>
  readonly authenticators: Pick<Authenticators, 'find'>
  readonly totpEnrollments: Pick<TotpEnrollments, 'find'>
  readonly rules: Pick<Rules, 'policy' | 'signer' | 'ca' | 'cas'>
  readonly endedSessions: Pick<EndedSessions, 'has'>
  readonly demandSecondaryJwt: DemandSecondaryJwt
  readonly timeout: Duration
}): LegacySessions {
  const { brand, vault, clock, apiSessions, rules, endedSessions, timeout } = deps
  const kept = new Map<SecretHash, Kept>()

  async function find(tokenHash: SecretHash): Promise<Kept | undefined> {
    const known = kept.get(tokenHash)
    if (known !== undefined && clock.uptime() - known.readAt < KEPT_FOR) return known
    kept.delete(tokenHash)
    const readAt = clock.uptime()
    const session = await apiSessions.findLegacy(tokenHash)
    const identity = session && (await deps.identities.find(session.identityId))
    // Nothing is kept of a token that opens nothing: strangers would fill the memory.
    if (session === undefined || identity === undefined) return undefined
    const primary = await completeProof(session.primary, deps.authenticators, rules)
    const entry = { session: { ...session, primary }, identity, readAt }
    keep(tokenHash, entry)
    return entry
  }

  function keep(tokenHash: SecretHash, found: Kept): void {
    kept.set(tokenHash, found)
    if (kept.size <= MOST_KEPT) return
    const [oldest] = kept.keys()
    if (oldest !== undefined) kept.delete(oldest)
  }

  /** The end as it stands after this call: the written one (D-113). */
  async function renew(tokenHash: SecretHash, found: Kept, now: Instant): Promise<Instant> {
    const { session } = found
    if (now - session.lastActivityAt < timeout / WRITE_PART) return session.expiresAt
    const expiresAt = earlier(plus(now, timeout), session.endsAt)
    await apiSessions.renewLegacy(session.id, now, expiresAt)
    keep(tokenHash, { ...found, session: { ...session, lastActivityAt: now, expiresAt } })
    return expiresAt
  }

  return {
    async authenticate(token, bearers, needs) {
      const tokenHash = vault.hash('session-token', token.reveal())
      const found = await find(tokenHash)
      const now = clock.now()
      if (found === undefined) throw invalid('unknown zt-session')
      const { session, identity } = found
      if (endedSessions.has(session.id)) throw invalid('the session has ended')
      if (session.expiresAt <= now) throw invalid('the session has expired')
      if (isDisabled(identity, now)) throw invalid('the identity is disabled')
      const policy = rules.policy(identity.authPolicyId)
      if (policy === undefined) throw invalid('the policy is gone')

      // D-225: what the login proved must still be accepted; ending the session needs nothing (D-52).
      const withdrawn =
        needs === 'logout' ? undefined : refuseProof(session.primary, policy, rules, now)
      if (withdrawn !== undefined) throw invalid(withdrawn)

      const open = isTotpOpen(session, policy) ? [await totpQueryOf(identity)] : []
      // D-112: also where less than a full session is enough.
      if (needs !== 'logout') {
        const owner = { identityId: identity.id, externalId: identity.externalId }
        await deps.demandSecondaryJwt(policy, owner, bearers, open)
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
        expiresAt: await renew(tokenHash, found, now),
        isPartial,
      }
    },

    forget(id) {
      for (const [tokenHash, { session }] of kept) if (session.id === id) kept.delete(tokenHash)
    },
  }

  async function totpQueryOf({ id }: Identity): Promise<TotpQuery> {
    const enrollment = await deps.totpEnrollments.find(id)
    return totpQuery(brand, 'legacy', enrollment?.isVerified === true)
  }
}

/** D-51. */
function partial(authQueries: readonly TotpQuery[]): Failure {
  const detail = 'the TOTP code is outstanding'
  return new Failure('UNAUTHORIZED', { challenges: [ztSessionInvalid()], authQueries, detail })
}

function invalid(detail: string): Failure {
  return new Failure('UNAUTHORIZED', { challenges: [ztSessionInvalid()], detail })
}
