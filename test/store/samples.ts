/** Values to store. Every member is filled, unless a test says otherwise. */
import { minutes } from '../../src/base/duration.ts'
import type {
  ApiSessionId,
  AuthenticatorId,
  AuthPolicyId,
  EventId,
  IdentityId,
  RequestId,
} from '../../src/base/ids.ts'
import { type Instant, instant } from '../../src/base/instant.ts'
import type { SecretHash } from '../../src/base/vault.ts'
import type { AuditEvent } from '../../src/domain/audit/events.ts'
import type { StoredAuthority } from '../../src/domain/certificates/authority-record.ts'
import type { Identity, UpdbAuthenticator } from '../../src/domain/identities/identity.ts'
import type { AuthRequestKey, CodeIssued } from '../../src/domain/login/auth-request.ts'
import type { VerifiedRedirect } from '../../src/domain/login/verified-redirect.ts'
import type { AuthPolicy } from '../../src/domain/policies/auth-policy.ts'
import type { ApiSession, SessionEnding } from '../../src/domain/sessions/api-session.ts'
import type { StoredSigningKey } from '../../src/domain/tokens/signing-key.ts'
import type { Issuer } from '../../src/protocol/oidc.ts'

/** Larger than 32 bits, like every time of today. */
export const NOON: Instant = instant(1_800_000_000_000)
export const after = (milliseconds: number): Instant => instant(NOON + milliseconds)

export const sessionId = (text: string) => text as ApiSessionId
export const hash = (text: string) => text as SecretHash

export function aPolicy(given: Partial<AuthPolicy> = {}): AuthPolicy {
  return {
    id: 'policy-1' as AuthPolicyId,
    name: 'staff',
    primary: { updb: { allowed: true, minPasswordLength: 12 } },
    createdAt: NOON,
    updatedAt: after(1),
    ...given,
  }
}

export function anIdentity(given: Partial<Identity> = {}): Identity {
  return {
    id: 'identity-1' as IdentityId,
    name: "Zoë O'Neil 🔑",
    type: 'Router',
    isAdmin: true,
    externalId: 'zoe@example.org',
    authPolicyId: aPolicy().id,
    roleAttributes: ['staff', 'door "7"'],
    appData: { floor: 3, keyholder: true },
    tags: { note: 'a\nb', nothing: null },
    disabledAt: after(2),
    disabledUntil: after(3),
    createdAt: NOON,
    updatedAt: after(1),
    ...given,
  }
}

export function anAuthenticator(given: Partial<UpdbAuthenticator> = {}): UpdbAuthenticator {
  return {
    id: 'authenticator-1' as AuthenticatorId,
    method: 'updb',
    identityId: anIdentity().id,
    username: 'Zoë',
    passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    createdAt: NOON,
    updatedAt: after(1),
    ...given,
  }
}

export function anAuthRequest(given: Partial<CodeIssued> = {}): CodeIssued {
  return {
    key: 'request-1' as AuthRequestKey,
    state: 'code-issued',
    ask: {
      clientId: 'service',
      redirectUri: 'http://127.0.0.1:4000/callback' as VerifiedRedirect,
      responseMode: 'query',
      issuer: 'https://localhost:1280/oidc' as Issuer,
      scopes: ['openid', 'profile'],
      codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      state: 'state "with" \u0000 anything',
      nonce: 'nonce',
      configTypes: ['config-1'],
    },
    browser: hash('cookie'),
    primary: {
      method: 'password',
      identityId: anIdentity().id,
      authenticatorId: anAuthenticator().id,
      at: after(4),
    },
    codeHash: hash('code-1'),
    codeExpiresAt: after(60_000),
    expiresAt: after(600_000),
    ...given,
  }
}

export function aSession(given: Partial<ApiSession> = {}): ApiSession {
  return {
    id: sessionId('session-1'),
    kind: 'oidc',
    identityId: anIdentity().id,
    authenticatorId: anAuthenticator().id,
    issuer: 'https://localhost:1280/oidc' as Issuer,
    clientId: 'service',
    amr: ['pwd'],
    configTypes: ['config-1', 'config-2'],
    address: '2001:db8::7',
    userAgent: 'curl/8',
    createdAt: NOON,
    expiresAt: after(1_800_000),
    ...given,
  }
}

export function anEnding(id: string, given: Partial<SessionEnding> = {}): SessionEnding {
  return { sessionId: sessionId(id), at: NOON, keepUntil: after(1_800_000), ...given }
}

export function aSigningKey(generation: number, given: Partial<StoredSigningKey> = {}) {
  return {
    kid: `kid-${generation}`,
    generation,
    algorithm: 'ES256',
    publicJwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' },
    sealedPrivateJwk: 'sealed',
    createdAt: NOON,
    activeFrom: after(5),
    tokenLife: minutes(30),
    ...given,
  } satisfies StoredSigningKey
}

export function anAuthority(role: StoredAuthority['role'], generation: number): StoredAuthority {
  return {
    role,
    generation,
    certificatePem: `-----BEGIN CERTIFICATE-----\n${role} ${generation}\n-----END CERTIFICATE-----\n`,
    sealedKey: 'sealed',
    createdAt: NOON,
    notAfter: after(1_000_000_000_000),
  }
}

export function anEvent(id: string, at: Instant = NOON): AuditEvent {
  return {
    id: id as EventId,
    at,
    caller: { address: '192.0.2.1', requestId: 'req-1' as RequestId, userAgent: 'curl/8' },
    type: 'login.failed',
    identityId: anIdentity().id,
    reason: 'wrong-password',
    details: { method: 'password', username: 'Zoë \u0000' },
  }
}
