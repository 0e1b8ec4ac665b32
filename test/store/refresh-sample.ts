/** An identity with a session and a refresh token, and what spends the token. */
import type { ProvenPrimary } from '../../src/domain/factors/proven.ts'
import type { Stores } from '../../src/domain/stores.ts'
import type { RefreshSpending } from '../../src/domain/tokens/stores.ts'
import { aPasskey } from './passkey-sample.ts'
import {
  aCertAuthenticator,
  after,
  anAuthenticator,
  anEvent,
  anIdentity,
  aPolicy,
  aPrimary,
  aRefreshToken,
  aSession,
  hash,
} from './samples.ts'

export const ENABLED = anIdentity({ disabledAt: undefined, disabledUntil: undefined })

/** What a session can begin with. */
export const PRIMARIES: Readonly<Record<string, ProvenPrimary>> = {
  password: aPrimary({ method: 'password', authenticatorId: anAuthenticator().id }),
  certificate: aPrimary({ method: 'cert', authenticatorId: aCertAuthenticator().id }),
  passkey: aPrimary({ method: 'passkey', authenticatorId: aPasskey().id }),
  claim: aPrimary({ method: 'ext-jwt', authenticatorId: undefined }),
}

export async function seedRefresh(store: Stores, primary?: ProvenPrimary): Promise<void> {
  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(ENABLED)
  await store.authenticators.insert(anAuthenticator())
  await store.authenticators.insert(aCertAuthenticator())
  await store.passkeys.insert(aPasskey())
  await store.apiSessions.insert(aSession(primary === undefined ? {} : { primary }))
  await store.refreshTokens.insert(aRefreshToken())
}

export function aSpending(name: string, given: Partial<RefreshSpending> = {}): RefreshSpending {
  const issuedAt = after(1_000)
  return {
    at: issuedAt,
    hash: aRefreshToken().hash,
    successor: aRefreshToken({ hash: hash(name), issuedAt, expiresAt: after(90_000_000) }),
    primary: PRIMARIES.password as ProvenPrimary,
    expiresAt: after(90_000_000),
    tokensEndAt: after(2_000_000),
    proof: undefined,
    event: {
      ...anEvent(`event of ${name}`),
      type: 'token.refreshed',
      identityId: ENABLED.id,
      sessionId: aSession().id,
      details: { scope: 'openid' },
    },
    ...given,
  }
}
