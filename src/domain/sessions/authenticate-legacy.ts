/**
 * A login that results in a `zt-session` token. SPEC Legacy authentication; D-51. Credentials and demands are the same
 * as for an OIDC login; if something is outstanding, the session is partial instead of a code being withheld.
 */

import { base64url } from '../../base/encoding.ts'
import { type ApiSessionId, newId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { earlier, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { AuthQuery } from '../../protocol/auth-query.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import { changedFields } from '../changes.ts'
import { NO_FACTORS } from '../factors/proven.ts'
import type { Accepted } from '../factors/verdict.ts'
import type { ClientInfo, Identity } from '../identities/identity.ts'
import { amrOf } from '../login/amr.ts'
import { findDemands, outstandingQueries } from '../login/demands.ts'
import { holdLogin } from '../login/hold-login.ts'
import { type PrimarySubmission, provePrimary } from '../login/prove-primary.ts'
import { addConfigTypes } from '../login/request/read-ask.ts'
import { demandJwt } from '../login/submit-primary.ts'
import type { Stores } from '../stores.ts'
import type { LegacySession } from './api-session.ts'
import type { SessionPorts } from './ports.ts'

export interface LegacyLogin extends Omit<PrimarySubmission, 'since'> {
  readonly configTypes: readonly string[]
  readonly client: LegacyClient
}

/** What the client reports about itself, as far as we store it (D-124). */
export interface LegacyClient {
  readonly envInfo: ClientInfo | undefined
  readonly sdkInfo: ClientInfo | undefined
}

export interface BegunLegacySession {
  readonly session: LegacySession
  readonly identity: Identity
  readonly token: Secret
  readonly authQueries: readonly AuthQuery[]
  /** After a password: the cookie that marks the device as known (D-216). */
  readonly device: string | undefined
}

/** D-36. */
const TOKEN_BYTES = 32

export async function authenticateLegacy(
  ports: SessionPorts,
  { credential, bearers, configTypes, client, caller, device = {} }: LegacyLogin,
): Promise<BegunLegacySession> {
  const { brand, vault, random, clock } = ports
  const allConfigTypes = addConfigTypes(configTypes, [])
  const accepted = await provePrimary(ports, { credential, bearers, caller, device })
  const { identity, policy, primary } = accepted
  if (policy.secondary.requireBoundToken) throw await refuseUnbound(ports, accepted, caller)
  const demands = await findDemands(ports, identity, policy, undefined)
  const extJwt = await demandJwt(ports, { accepted, demands, bearers, caller, where: 'legacy' })
  const secondary = { factors: NO_FACTORS, extJwt }
  const authQueries = outstandingQueries(demands, secondary, { brand, where: 'legacy' })

  const now = clock.now()
  const token = base64url(random.bytes(TOKEN_BYTES))
  const endsAt = plus(now, ports.maxSessionDuration)
  const session: LegacySession = {
    id: newId<ApiSessionId>(random),
    kind: 'legacy',
    identityId: identity.id,
    primary,
    secondary,
    amr: amrOf(primary, secondary),
    configTypes: allConfigTypes,
    address: caller.address,
    userAgent: caller.userAgent,
    tokenHash: vault.hash('session-token', token),
    createdAt: now,
    lastActivityAt: now,
    endsAt,
    expiresAt: earlier(plus(now, ports.sessionTimeout), endsAt),
    demanded: new Set(demands.choices.flat()),
  }
  const isAlive = await ports.transaction(async (tx) => {
    const held = await holdLogin(tx, accepted, now)
    if (held === undefined) return false
    await noteClient(tx, held, client)
    await tx.apiSessions.insert(session)
    // If a code is outstanding, the login succeeds only when that is proven.
    if (authQueries.length === 0) {
      await tx.identities.markLogin(identity.id, now)
      await record(ports, tx, caller, succeeded(session))
    }
    return true
  })
  if (!isAlive) {
    throw new Failure('INVALID_AUTH', { detail: 'the identity or its authenticator has changed' })
  }
  return { session, identity, token: new Secret(token), authQueries, device: accepted.device }
}

/** D-454: a `zt-session` is bound to nothing. */
async function refuseUnbound(
  ports: SessionPorts,
  { identity, primary }: Accepted,
  caller: Caller,
): Promise<Failure> {
  await record(ports, ports, caller, {
    type: 'login.failed',
    identityId: identity.id,
    reason: 'token-not-bound',
    details: { method: primary.method },
  })
  return new Failure('INVALID_AUTH', { detail: 'the policy requires a bound token' })
}

/** API 4.1: last seen. Writes only changes, since the same client logs in again and again. */
async function noteClient(
  tx: Pick<Stores, 'identities'>,
  known: Identity,
  { envInfo, sdkInfo }: LegacyClient,
): Promise<void> {
  const news = changedFields(known, {
    ...(envInfo === undefined ? {} : { envInfo }),
    ...(sdkInfo === undefined ? {} : { sdkInfo }),
  })
  if (news.length > 0) await tx.identities.replaceClientInfo(known.id, { envInfo, sdkInfo })
}

/** The event of a complete legacy login. */
export function succeeded({ id, identityId, primary, amr }: LegacySession) {
  const { method, authenticatorId } = primary
  const details = { method, authenticatorId, amr }
  return { type: 'login.succeeded', identityId, sessionId: id, details } as const
}
