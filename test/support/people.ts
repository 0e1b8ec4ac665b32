/**
 * An identity, its policy, what it has proven, and the rules that know them: for unit tests of what is decided about
 * somebody. All of them stand still at the noon of the manual clock.
 */
import assert from 'node:assert/strict'
import type {
  ApiSessionId,
  AuthenticatorId,
  AuthPolicyId,
  CaId,
  IdentityId,
  RequestId,
} from '../../src/base/ids.ts'
import type { SecretHash } from '../../src/base/secrets/vault.ts'
import { days, minutes } from '../../src/base/time/duration.ts'
import { plus } from '../../src/base/time/instant.ts'
import type { Caller } from '../../src/domain/audit/events.ts'
import type { Ca } from '../../src/domain/certificates/third-party/ca.ts'
import type { ExternalJwtSigner } from '../../src/domain/ext-jwt/signer.ts'
import {
  NO_FACTORS,
  NOTHING_SECONDARY,
  type ProvenPrimary,
} from '../../src/domain/factors/proven.ts'
import type {
  CertAuthenticator,
  UpdbAuthenticator,
} from '../../src/domain/identities/authenticator.ts'
import type { Identity } from '../../src/domain/identities/identity.ts'
import { type AuthPolicy, defaultPolicy } from '../../src/domain/policies/auth-policy.ts'
import { demandsOf } from '../../src/domain/policies/demands-of.ts'
import type { Rules } from '../../src/domain/policies/rules.ts'
import type { LegacySession, OidcSession } from '../../src/domain/sessions/api-session.ts'
import { Failure } from '../../src/errors/catalogue.ts'
import { formatChallenges } from '../../src/protocol/challenge.ts'
import type { SecondFactorId } from '../../src/protocol/factors/second-factors.ts'
import type { Issuer } from '../../src/protocol/oidc.ts'
import { NOON } from './clocks/manual-clock.ts'

export const CALLER: Caller = {
  address: '192.0.2.1',
  requestId: 'request-1' as RequestId,
  userAgent: undefined,
}

/** Every primary method, nothing secondary, but for the changes. */
export function aPolicy(
  changes: {
    readonly id?: string
    readonly cert?: Partial<AuthPolicy['primary']['cert']>
    readonly extJwt?: Partial<AuthPolicy['primary']['extJwt']>
    readonly updb?: Partial<AuthPolicy['primary']['updb']>
    readonly passkey?: Partial<AuthPolicy['primary']['passkey']>
    readonly secondary?: Partial<AuthPolicy['secondary']>
  } = {},
): AuthPolicy {
  const { primary, secondary, ...rest } = defaultPolicy(NOON)
  return {
    ...rest,
    id: (changes.id ?? 'policy-1') as AuthPolicyId,
    primary: {
      cert: { ...primary.cert, ...changes.cert },
      extJwt: { ...primary.extJwt, ...changes.extJwt },
      updb: { ...primary.updb, ...changes.updb },
      passkey: { ...primary.passkey, ...changes.passkey },
    },
    secondary: { ...secondary, ...changes.secondary },
  }
}

export function anIdentity(changes: Partial<Identity> = {}): Identity {
  return {
    id: 'identity-1' as IdentityId,
    name: 'Zoë',
    type: 'Default',
    isAdmin: false,
    externalId: 'zoe@example.org',
    authPolicyId: 'policy-1' as AuthPolicyId,
    roleAttributes: [],
    hosts: [],
    appData: {},
    tags: {},
    disabledAt: undefined,
    disabledUntil: undefined,
    envInfo: undefined,
    sdkInfo: undefined,
    voidedLogins: 0,
    roleVersion: 0,
    lastLoginAt: undefined,
    createdAt: NOON,
    updatedAt: NOON,
    ...changes,
  }
}

export function aPassword(changes: Partial<UpdbAuthenticator> = {}): UpdbAuthenticator {
  return {
    ...NEVER_USED,
    method: 'updb',
    username: 'zoe',
    passwordHash: 'hash',
    lockedUntil: undefined,
    ...changes,
  }
}

export function aCertificate(changes: Partial<CertAuthenticator> = {}): CertAuthenticator {
  return {
    ...NEVER_USED,
    method: 'cert',
    certPem: '',
    fingerprint: 'ab'.repeat(32),
    isIssuedByNetwork: true,
    ...changes,
  }
}

const NEVER_USED = {
  id: 'authenticator-1' as AuthenticatorId,
  identityId: anIdentity().id,
  tags: {},
  credentialVersion: 0,
  lastUsedAt: undefined,
  createdAt: NOON,
  updatedAt: NOON,
} as const

/** A password, unless told otherwise. */
export function proven(changes: Partial<ProvenPrimary> = {}): ProvenPrimary {
  return {
    method: 'password',
    identityId: anIdentity().id,
    authenticatorId: 'authenticator-1' as AuthenticatorId,
    credentialVersion: 0,
    certificate: undefined,
    signerId: undefined,
    voidedLogins: 0,
    at: NOON,
    ...changes,
  }
}

export function rulesOf(known: {
  readonly policies?: readonly AuthPolicy[]
  readonly signers?: readonly ExternalJwtSigner[]
  readonly cas?: readonly Ca[]
}): Pick<
  Rules,
  'policy' | 'demands' | 'signer' | 'signerOf' | 'signers' | 'cas' | 'ca' | 'isStale'
> {
  const { policies = [], signers = [], cas = [] } = known
  return {
    policy: (id) => policies.find((policy) => policy.id === id),
    demands(id) {
      const policy = this.policy(id)
      return policy && demandsOf(policy, signers, cas)
    },
    signer: (id) => signers.find((signer) => signer.id === id),
    signerOf: (issuer) => signers.find((signer) => signer.issuer === issuer),
    signers: () => signers,
    cas: () => cas,
    ca: (id) => cas.find((ca) => ca.id === id),
    isStale: () => false,
  }
}

/** A third-party CA that is verified and enabled, with the given changes. */
export function aCa(changes: Partial<Ca> = {}): Ca {
  return {
    id: 'ca-1' as CaId,
    name: 'Partner',
    certPem: '',
    fingerprint: '',
    isVerified: true,
    verificationToken: undefined,
    isAuthEnabled: true,
    isOttCaEnrollmentEnabled: false,
    isAutoCaEnrollmentEnabled: false,
    identityRoles: [],
    identityNameFormat: '[caName]-[commonName]',
    externalIdClaim: undefined,
    tags: {},
    createdAt: NOON,
    updatedAt: NOON,
    ...changes,
  }
}

/** A finished password login, thirty minutes long. */
export function anOidcSession(changes: Partial<OidcSession> = {}): OidcSession {
  const { identityId } = proven()
  return {
    id: 'session-1' as ApiSessionId,
    kind: 'oidc',
    identityId,
    primary: proven(),
    secondary: NOTHING_SECONDARY,
    issuer: 'https://localhost:1280/oidc' as Issuer,
    clientId: 'service',
    scopes: ['openid'],
    boundKey: undefined,
    amr: ['pwd'],
    configTypes: [],
    address: CALLER.address,
    userAgent: undefined,
    createdAt: NOON,
    endsAt: plus(NOON, days(30)),
    expiresAt: plus(NOON, minutes(30)),
    ...changes,
  }
}

/** The same, for a `zt-session` token. */
export function aLegacySession(changes: Partial<LegacySession> = {}): LegacySession {
  const { issuer, clientId, scopes, boundKey, ...common } = anOidcSession()
  return {
    ...common,
    kind: 'legacy',
    tokenHash: 'token-hash' as SecretHash,
    lastActivityAt: NOON,
    demanded: NO_FACTORS,
    ...changes,
  }
}

/** The failure that a call is refused with. */
export async function refusalOf(call: Promise<unknown>): Promise<Failure> {
  const failure = await call.then(
    () => assert.fail('the call is refused'),
    (error: unknown) => error,
  )
  assert.ok(failure instanceof Failure, String(failure))
  return failure
}

/** The code of a failure and, where it has them, its challenges as they are sent. */
export function wordsOf({ code, challenges }: Failure): string {
  return challenges === undefined ? code : `${code}: ${formatChallenges(challenges)}`
}

/** What a login has proven after a code. */
export const WITH_TOTP: ReadonlySet<SecondFactorId> = new Set(['totp'])
