/**
 * A login that ends in a `zt-session` token. SPEC Legacy authentication; D-51. The same credentials and the same
 * demands as an OIDC login; what is outstanding leaves the session partial instead of withholding a code.
 */

import { base64url } from '../../base/encoding.ts'
import { type ApiSessionId, newId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Duration } from '../../base/time/duration.ts'
import { earlier, plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { AuthQuery } from '../../protocol/auth-query.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Events } from '../audit/stores.ts'
import { changedFields } from '../changes.ts'
import type { CheckSecondaryJwt } from '../factors/external-jwt.ts'
import type { ShownDevice } from '../factors/guessing/known-devices.ts'
import type { ClientInfo, Identity } from '../identities/identity.ts'
import { type FindDemands, outstandingQueries } from '../login/demands.ts'
import { holdLogin } from '../login/hold-owner.ts'
import type { PrimaryCredential, ProvePrimary } from '../login/prove-primary.ts'
import { addConfigTypes } from '../login/request/read-ask.ts'
import { demandJwt } from '../login/submit-primary.ts'
import type { Stores, Transaction } from '../stores.ts'
import { amrOf } from '../tokens/amr.ts'
import type { LegacySession } from './api-session.ts'

export interface LegacyLogin {
  readonly credential: PrimaryCredential
  readonly bearers: readonly Secret[]
  readonly configTypes: readonly string[]
  readonly client: LegacyClient
  readonly caller: Caller
  /** With a password (D-216). */
  readonly device?: ShownDevice
}

/** What the client tells of itself, as far as it is kept (D-124). */
export interface LegacyClient {
  readonly envInfo: ClientInfo | undefined
  readonly sdkInfo: ClientInfo | undefined
}

export interface BegunLegacySession {
  readonly session: LegacySession
  readonly identity: Identity
  readonly token: Secret
  readonly authQueries: readonly AuthQuery[]
  /** After a password: the cookie that makes the device known from now on (D-216). */
  readonly device: string | undefined
}

export type AuthenticateLegacy = (login: LegacyLogin) => Promise<BegunLegacySession>

/** D-36. */
const TOKEN_BYTES = 32

export function createAuthenticateLegacy(deps: {
  readonly brand: string
  readonly vault: Vault
  readonly random: Random
  readonly clock: Clock
  readonly provePrimary: ProvePrimary
  readonly findDemands: FindDemands
  readonly checkSecondaryJwt: CheckSecondaryJwt
  readonly events: Pick<Events, 'insert'>
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
  readonly timeout: Duration
  readonly maxSessionDuration: Duration
}): AuthenticateLegacy {
  const { brand, vault, random, clock, transaction, recordEvent } = deps

  return async ({ credential, bearers, configTypes, client, caller, device = {} }) => {
    const allConfigTypes = addConfigTypes(configTypes, [])
    const accepted = await deps.provePrimary({ credential, bearers, caller, device })
    const { identity, policy, primary } = accepted
    const demands = await deps.findDemands(identity, policy)
    const extJwt = await demandJwt(deps, { accepted, demands, bearers, caller, where: 'legacy' })
    const secondary = { totp: false, extJwt }
    const authQueries = outstandingQueries(demands, secondary, { brand, where: 'legacy' })

    const now = clock.now()
    const token = base64url(random.bytes(TOKEN_BYTES))
    const endsAt = plus(now, deps.maxSessionDuration)
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
      expiresAt: earlier(plus(now, deps.timeout), endsAt),
      isTotpDemanded: demands.totp.isDemanded,
    }
    const isAlive = await transaction(async (tx) => {
      const held = await holdLogin(tx, accepted, now)
      if (held === undefined) return false
      await noteClient(tx, held, client)
      await tx.apiSessions.insert(session)
      // With a code outstanding, the login succeeds when that is proven.
      if (authQueries.length === 0) {
        await tx.identities.markLogin(identity.id, now)
        await tx.events.insert(recordEvent(caller, succeeded(session)))
      }
      return true
    })
    if (!isAlive) {
      throw new Failure('INVALID_AUTH', { detail: 'the identity or its authenticator has changed' })
    }
    return { session, identity, token: new Secret(token), authQueries, device: accepted.device }
  }
}

/** API 4.1: last seen. The same client logs in again and again, and then there is nothing to write. */
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

/** The event of a legacy login that is complete. */
export function succeeded({ id, identityId, primary, amr }: LegacySession) {
  const { method, authenticatorId } = primary
  const details = { method, authenticatorId, amr }
  return { type: 'login.succeeded', identityId, sessionId: id, details } as const
}
