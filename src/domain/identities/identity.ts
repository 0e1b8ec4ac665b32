/**
 * Who can log in. API 4.1 and 4.2: the identity itself, and the authenticators that prove it.
 */
import type { AuthenticatorId, AuthPolicyId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/instant.ts'

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
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export function isDisabled(identity: Identity, now: Instant): boolean {
  if (identity.disabledAt === undefined) return false
  return identity.disabledUntil === undefined || identity.disabledUntil > now
}

/** A username and password of an identity. The password exists only as an argon2id hash with its parameters. */
export interface UpdbAuthenticator {
  readonly id: AuthenticatorId
  readonly method: 'updb'
  readonly identityId: IdentityId
  readonly username: string
  readonly passwordHash: string
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/**
 * The form in which two usernames are the same (API 4.2: NFKC and case folding). The way over upper case folds
 * what a single step misses, such as ß and the Greek final sigma; it begins in lower case because the capital ẞ
 * has no upper case of two letters.
 */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
}
