/**
 * Who can log in. API 4.1.
 */
import type { AuthPolicyId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'

export const IDENTITY_TYPES = ['Default', 'Router'] as const
export type IdentityType = (typeof IDENTITY_TYPES)[number]

/** API 1: a flat map. */
export type Tags = Readonly<Record<string, string | number | boolean | null>>

export interface Identity {
  readonly id: IdentityId
  readonly name: string
  readonly type: IdentityType
  readonly isAdmin: boolean
  readonly externalId: string | undefined
  readonly authPolicyId: AuthPolicyId
  readonly roleAttributes: readonly string[]
  readonly appData: Tags
  readonly tags: Tags
  readonly disabledAt: Instant | undefined
  /** When a disablement ends by itself; undefined while disabled means until an administrator enables it. */
  readonly disabledUntil: Instant | undefined
  /** What the last legacy login told of its machine and of its SDK (D-124); undefined when none did. */
  readonly envInfo: ClientInfo | undefined
  readonly sdkInfo: ClientInfo | undefined
  /** Incremented when all sessions of the identity end: a login from before that cannot begin a session (D-226). */
  readonly voidedLogins: number
  /** When the last login finished (D-268). */
  readonly lastLoginAt: Instant | undefined
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** As it is made: nobody has logged in with it yet. */
export type FreshIdentity = Omit<Identity, 'envInfo' | 'sdkInfo' | 'voidedLogins' | 'lastLoginAt'>

/** Short texts by known names. A client says this of itself: for people to read, and never believed. */
export type ClientInfo = Readonly<Record<string, string>>

export function isDisabled(identity: Identity, now: Instant): boolean {
  if (identity.disabledAt === undefined) return false
  return identity.disabledUntil === undefined || identity.disabledUntil > now
}

/** The ids of the identities that these belong to, each once. */
export function ownersOf(
  owned: readonly { readonly identityId: IdentityId }[],
): readonly IdentityId[] {
  return [...new Set(owned.map(({ identityId }) => identityId))]
}
