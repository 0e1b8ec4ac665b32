/** Values to store. Every member is filled, unless a test says otherwise. */

import type {
  ApiSessionId,
  AuthenticatorId,
  AuthPolicyId,
  CaId,
  EnrollmentId,
  EventId,
  ExternalJwtSignerId,
  IdentityId,
  RequestId,
  TotpEnrollmentId,
} from '../../src/base/ids.ts'
import type { SecretHash } from '../../src/base/secrets/vault.ts'
import { minutes } from '../../src/base/time/duration.ts'
import { type Instant, instant } from '../../src/base/time/instant.ts'
import type { AuditEvent } from '../../src/domain/audit/events.ts'
import type { StoredAuthority } from '../../src/domain/certificates/own/authority-record.ts'
import type { Ca } from '../../src/domain/certificates/third-party/ca.ts'
import type { Enrollment, EnrollmentKind } from '../../src/domain/enrollments/enrollment.ts'
import type { ExternalJwtSigner } from '../../src/domain/ext-jwt/signer.ts'
import type { FactorOwner } from '../../src/domain/factors/factor-owner.ts'
import { NO_FACTORS, type ProvenPrimary } from '../../src/domain/factors/proven.ts'
import type { RefreshToken } from '../../src/domain/factors/refresh-token.ts'
import type { TotpEnrollment } from '../../src/domain/factors/totp/totp-enrollment.ts'
import type {
  CertAuthenticator,
  UpdbAuthenticator,
} from '../../src/domain/identities/authenticator.ts'
import type { Identity } from '../../src/domain/identities/identity.ts'
import type {
  AuthRequestKey,
  CodeIssued,
  PartiallyAuthenticated,
} from '../../src/domain/login/request/auth-request.ts'
import type { VerifiedRedirect } from '../../src/domain/login/request/verified-redirect.ts'
import type { AuthPolicy } from '../../src/domain/policies/auth-policy.ts'
import type {
  LegacySession,
  OidcSession,
  SessionEnding,
} from '../../src/domain/sessions/api-session.ts'
import type { StoredSigningKey } from '../../src/domain/tokens/keys/signing-key.ts'
import { factorDemands } from '../../src/protocol/factors/second-factors.ts'
import type { Issuer } from '../../src/protocol/oidc.ts'
import { WITH_TOTP } from '../support/people.ts'

/** Larger than 32 bits, like every time of today. */
export const NOON: Instant = instant(1_800_000_000_000)
export const after = (milliseconds: number): Instant => instant(NOON + milliseconds)

export const sessionId = (text: string) => text as ApiSessionId
export const hash = (text: string) => text as SecretHash

export const signerId = (text: string) => text as ExternalJwtSignerId

export function aPolicy(given: Partial<AuthPolicy> = {}): AuthPolicy {
  return {
    id: 'policy-1' as AuthPolicyId,
    name: 'staff',
    primary: {
      cert: { allowed: true, allowExpiredCerts: false, bindTokens: true },
      extJwt: { allowed: true, allowedSigners: [signerId('signer-1'), signerId('signer-2')] },
      updb: { allowed: true, minPasswordLength: 12, maxAttempts: 5, lockoutDurationMinutes: 0 },
      passkey: { allowed: true },
    },
    secondary: {
      ...factorDemands({ requireTotp: true }),
      requireExtJwt: signerId('signer-2'),
      requireBoundToken: false,
    },
    tags: { note: 'a\nb', nothing: null },
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
    hosts: [],
    appData: { floor: 3, keyholder: true },
    tags: { note: 'a\nb', nothing: null },
    disabledAt: after(2),
    disabledUntil: after(3),
    envInfo: undefined,
    sdkInfo: undefined,
    voidedLogins: 0,
    roleVersion: 0,
    lastLoginAt: undefined,
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
    lockedUntil: undefined,
    tags: { desk: 7 },
    credentialVersion: 0,
    lastUsedAt: undefined,
    createdAt: NOON,
    updatedAt: after(1),
    ...given,
  }
}

export function aCertAuthenticator(given: Partial<CertAuthenticator> = {}): CertAuthenticator {
  return {
    id: 'authenticator-9' as AuthenticatorId,
    method: 'cert',
    identityId: anIdentity().id,
    certPem: '-----BEGIN CERTIFICATE-----\nZoë\n-----END CERTIFICATE-----\n',
    fingerprint: 'ab'.repeat(32),
    isIssuedByNetwork: true,
    tags: { desk: 8 },
    credentialVersion: 0,
    lastUsedAt: undefined,
    createdAt: after(1),
    updatedAt: after(2),
    ...given,
  }
}

export function aSigner(given: Partial<ExternalJwtSigner> = {}): ExternalJwtSigner {
  return {
    id: signerId('signer-1'),
    name: 'workforce',
    enabled: true,
    issuer: 'https://idp.example.org/',
    audience: 'latchkey',
    keys: { kind: 'jwks', jwksEndpoint: 'https://idp.example.org/jwks' },
    claimsProperty: '/person/mail',
    useExternalId: true,
    externalAuthUrl: 'https://idp.example.org/login',
    clientId: 'latchkey',
    scopes: ['openid', 'mail'],
    targetToken: 'ID',
    tags: { owner: 'it' },
    createdAt: NOON,
    updatedAt: after(1),
    ...given,
  }
}

export function aCa(given: Partial<Ca> = {}): Ca {
  return {
    id: 'ca-1' as CaId,
    name: 'partner',
    certPem: '-----BEGIN CERTIFICATE-----\npartner\n-----END CERTIFICATE-----\n',
    fingerprint: 'cd'.repeat(32),
    isVerified: false,
    verificationToken: 'token',
    isAuthEnabled: true,
    isOttCaEnrollmentEnabled: false,
    isAutoCaEnrollmentEnabled: true,
    identityRoles: ['partner'],
    identityNameFormat: '[caName]-[commonName]',
    externalIdClaim: {
      location: 'SAN_URI',
      matcher: 'SCHEME',
      matcherCriteria: 'spiffe',
      parser: 'SPLIT',
      parserCriteria: '/',
      index: 2,
    },
    tags: { owner: 'it' },
    createdAt: NOON,
    updatedAt: after(1),
    ...given,
  }
}

export function anEnrollment(given: Partial<TotpEnrollment> = {}): TotpEnrollment {
  return {
    id: 'enrollment-1' as TotpEnrollmentId,
    identityId: anIdentity().id,
    isVerified: false,
    owner: 'owner-1' as FactorOwner,
    sealedSecret: 'sealed',
    createdAt: NOON,
    ...given,
  }
}

/** By token, for a password unless another kind is given. */
export function anInvitation(
  given: Partial<Omit<Enrollment, 'method'>> = {},
  kind: EnrollmentKind = { method: 'updb', username: 'Zoë' },
): Enrollment {
  return {
    id: 'invitation-1' as EnrollmentId,
    identityId: anIdentity().id,
    tokenHash: hash('invitation-token-1'),
    sealedJwt: 'sealed-jwt-1',
    expiresAt: after(86_400_000),
    usedAt: undefined,
    tags: { desk: 9 },
    createdAt: NOON,
    updatedAt: after(1),
    ...given,
    ...kind,
  }
}

export function aPrimary(given: Partial<ProvenPrimary> = {}): ProvenPrimary {
  return {
    method: 'cert',
    identityId: anIdentity().id,
    authenticatorId: anAuthenticator().id,
    credentialVersion: 3,
    certificate: {
      fingerprint: 'ab'.repeat(32),
      isIssuedByNetwork: false,
      notAfter: after(5),
      trust: {
        caId: 'ca-1' as CaId,
        throughCaIds: ['ca-2' as CaId, 'ca-3' as CaId],
        casEndAt: after(6),
      },
    },
    signerId: signerId('signer-1'),
    voidedLogins: 2,
    at: after(4),
    ...given,
  }
}

/** What an external JWT proves whose claim names the identity. */
export const BARE_PRIMARY = aPrimary({
  method: 'ext-jwt',
  authenticatorId: undefined,
  credentialVersion: undefined,
  certificate: undefined,
})

export function aPartialRequest(
  given: Partial<PartiallyAuthenticated> = {},
): PartiallyAuthenticated {
  return {
    key: 'request-1' as AuthRequestKey,
    state: 'partially-authenticated',
    revision: 1,
    ask: {
      clientId: 'service',
      redirectUri: 'http://127.0.0.1:4000/callback' as VerifiedRedirect,
      responseMode: 'query',
      issuer: 'https://localhost:1280/oidc' as Issuer,
      scopes: ['openid', 'profile'],
      dpopKey: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
      codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      state: 'state "with" \u0000 anything',
      nonce: 'nonce',
      prompt: 'login',
      maxAge: minutes(5),
      stepUp: ['totp'],
      configTypes: ['config-1'],
    },
    browser: hash('cookie'),
    primary: aPrimary(),
    secondary: { factors: NO_FACTORS, extJwt: signerId('signer-2') },
    reusedSession: sessionId('of-the-account'),
    expiresAt: after(600_000),
    ...given,
  }
}

export function anAuthRequest(given: Partial<CodeIssued> = {}): CodeIssued {
  return {
    ...aPartialRequest(),
    state: 'code-issued',
    sessionId: sessionId('of-the-code'),
    secondary: { factors: WITH_TOTP, extJwt: signerId('signer-2') },
    codeHash: hash('code-1'),
    codeExpiresAt: after(60_000),
    byEnrollment: true,
    ...given,
  }
}

const SESSION = {
  id: sessionId('session-1'),
  identityId: anIdentity().id,
  primary: aPrimary(),
  secondary: { factors: NO_FACTORS, extJwt: signerId('signer-2') },
  amr: ['pwd'],
  configTypes: ['config-1', 'config-2'],
  address: '2001:db8::7',
  userAgent: 'curl/8',
  createdAt: NOON,
  endsAt: after(43_200_000),
  expiresAt: after(1_800_000),
}

export function aSession(given: Partial<OidcSession> = {}): OidcSession {
  return {
    ...SESSION,
    kind: 'oidc',
    issuer: 'https://localhost:1280/oidc' as Issuer,
    clientId: 'service',
    scopes: ['openid', 'offline_access'],
    boundKey: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    tokensEndAt: after(600_000),
    ...given,
  }
}

export function aLegacySession(given: Partial<LegacySession> = {}): LegacySession {
  return {
    ...SESSION,
    id: sessionId('session-9'),
    kind: 'legacy',
    tokenHash: hash('token-1'),
    lastActivityAt: after(5),
    demanded: WITH_TOTP,
    ...given,
  }
}

export function anEnding(id: string, given: Partial<SessionEnding> = {}): SessionEnding {
  return { subject: sessionId(id), at: NOON, keepUntil: after(1_800_000), ...given }
}

export function aRefreshToken(given: Partial<RefreshToken> = {}): RefreshToken {
  return {
    hash: hash('refresh-1'),
    sessionId: sessionId('session-1'),
    issuedAt: NOON,
    expiresAt: after(86_400_000),
    spent: undefined,
    ...given,
  }
}

export function aSigningKey(
  generation: number,
  given: Partial<StoredSigningKey> = {},
): StoredSigningKey {
  return {
    kid: `kid-${generation}`,
    generation,
    purpose: 'access',
    algorithm: 'ES256',
    publicJwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' },
    sealedPrivateJwk: 'sealed',
    createdAt: NOON,
    activeFrom: after(5),
    tokenLife: minutes(30),
    ...given,
  }
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
    caller: {
      address: '192.0.2.1',
      requestId: 'req-1' as RequestId,
      userAgent: 'curl/8',
      actorId: 'administrator-1' as IdentityId,
    },
    type: 'login.failed',
    identityId: anIdentity().id,
    reason: 'wrong-password',
    details: { method: 'password', username: 'Zoë \u0000' },
  }
}
