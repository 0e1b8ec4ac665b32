/** An identity with a login whose code is not exchanged yet, and what begins its session. */
import type { AuthPolicyId } from '../../src/base/ids.ts'
import type { ProvenPrimary } from '../../src/domain/factors/proven.ts'
import type { Stores } from '../../src/domain/stores.ts'
import type { SessionBeginning } from '../../src/domain/tokens/stores.ts'
import { aPasskey } from './passkey-sample.ts'
import { ENABLED, PRIMARIES } from './refresh-sample.ts'
import {
  aCertAuthenticator,
  after,
  anAuthenticator,
  anAuthRequest,
  anEvent,
  aPolicy,
  aRefreshToken,
  aSession,
  hash,
  sessionId,
} from './samples.ts'

export const CODE = anAuthRequest().codeHash
export const OTHER_POLICY = aPolicy({ id: 'policy-2' as AuthPolicyId, name: 'others' })

export async function seedLogin(store: Stores, primary: ProvenPrimary): Promise<void> {
  await store.authPolicies.insert(aPolicy())
  await store.authPolicies.insert(OTHER_POLICY)
  await store.identities.insert(ENABLED)
  await store.authenticators.insert(anAuthenticator())
  await store.authenticators.insert(aCertAuthenticator())
  await store.passkeys.insert(aPasskey())
  await store.authRequests.insert(anAuthRequest({ primary }))
}

/** A proof whose versions are those of the stored identity and credential. */
export function primaryOf(name: string): ProvenPrimary {
  return { ...(PRIMARIES[name] as ProvenPrimary), credentialVersion: 0, voidedLogins: 0 }
}

export function aBeginning(
  name: string,
  {
    primary = primaryOf('password'),
    ...given
  }: Partial<SessionBeginning> & { primary?: ProvenPrimary } = {},
): SessionBeginning {
  const session = aSession({ id: sessionId(name), primary })
  return {
    at: after(1_000),
    redemption: { codeHash: CODE, at: after(900) },
    identity: ENABLED,
    session,
    refreshToken: aRefreshToken({ hash: hash(`token of ${name}`), sessionId: session.id }),
    proof: undefined,
    event: {
      ...anEvent(`event of ${name}`),
      type: 'token.issued',
      identityId: ENABLED.id,
      sessionId: session.id,
      details: { scope: 'openid' },
    },
    ...given,
  }
}
