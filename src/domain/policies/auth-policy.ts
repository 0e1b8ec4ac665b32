/**
 * Which login methods an identity may use, and which second factors it needs. API 4.4; SPEC Authentication Policy
 * fields referenced.
 */

import type { AuthPolicyId, ExternalJwtSignerId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { AUTH_POLICY } from '../../entities/auth-policy.ts'
import type { EntityOf } from '../../entities/field.ts'
import { type FactorDemands, factorDemands } from '../../protocol/factors/second-factors.ts'
import { SHORTEST_PASSWORD } from '../../protocol/limits.ts'

export interface AuthPolicy extends EntityOf<typeof AUTH_POLICY> {
  readonly primary: {
    readonly cert: {
      readonly allowed: boolean
      readonly allowExpiredCerts: boolean
      /** D-24: our own APIs accept a token of a certificate login only together with that certificate. */
      readonly bindTokens: boolean
    }
    readonly extJwt: {
      readonly allowed: boolean
      /** Empty: every enabled signer. */
      readonly allowedSigners: readonly ExternalJwtSignerId[]
    }
    readonly updb: {
      readonly allowed: boolean
      readonly minPasswordLength: number
      /** D-22: consecutive failures that lock the password; 0 means never. */
      readonly maxAttempts: number
      /** D-22: 0 means until an administrator unlocks it. */
      readonly lockoutDurationMinutes: number
    }
    /** D-431: signing in with a passkey alone. As a second factor, a passkey needs no permission. */
    readonly passkey: { readonly allowed: boolean }
  }
  readonly secondary: FactorDemands & {
    readonly requireExtJwt: ExternalJwtSignerId | undefined
    /** D-454: tokens must be bound to a key or a certificate, and every call must prove it. */
    readonly requireBoundToken: boolean
  }
}

export const DEFAULT_POLICY_ID = 'default' as AuthPolicyId
export const PRODUCTION_POLICY_ID = 'production' as AuthPolicyId

/** API 4.4: the defaults of each part of a policy. */
export const POLICY_DEFAULTS = {
  minPasswordLength: SHORTEST_PASSWORD,
  maxAttempts: 10,
  lockoutDurationMinutes: 15,
} as const

/** The policy that new identities get: every primary method, nothing secondary (API 4.4, D-431). */
export function defaultPolicy(now: Instant): AuthPolicy {
  return builtIn(DEFAULT_POLICY_ID, { allowsPasswords: true }, now)
}

/** Certificates and external JWTs, no passwords and no passkeys: SPEC Authentication 2, API 4.4. */
export function productionPolicy(now: Instant): AuthPolicy {
  return builtIn(PRODUCTION_POLICY_ID, { allowsPasswords: false }, now)
}

/** API 1: these are never deleted. */
export function isBuiltIn(id: AuthPolicyId): boolean {
  return id === DEFAULT_POLICY_ID || id === PRODUCTION_POLICY_ID
}

/** Returns whether an identity with this policy may log in with a JWT of this signer. */
export function allowsSigner(
  { primary }: Pick<AuthPolicy, 'primary'>,
  id: ExternalJwtSignerId,
): boolean {
  const { allowed, allowedSigners } = primary.extJwt
  return allowed && (allowedSigners.length === 0 || allowedSigners.includes(id))
}

function builtIn(
  id: AuthPolicyId,
  { allowsPasswords }: { readonly allowsPasswords: boolean },
  now: Instant,
): AuthPolicy {
  return {
    id,
    name: id,
    primary: {
      cert: { allowed: true, allowExpiredCerts: false, bindTokens: false },
      extJwt: { allowed: true, allowedSigners: [] },
      updb: { allowed: allowsPasswords, ...POLICY_DEFAULTS },
      passkey: { allowed: allowsPasswords },
    },
    secondary: { ...factorDemands({}), requireExtJwt: undefined, requireBoundToken: false },
    tags: {},
    createdAt: now,
    updatedAt: now,
  }
}
