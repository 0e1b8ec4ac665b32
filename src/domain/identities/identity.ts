/**
 * Who can log in. API 4.1.
 */
import type { IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { EntityOf, Tags, WritableName } from '../../entities/field.ts'
import type { IDENTITY } from '../../entities/identity.ts'

export type { Tags }

export type Identity = EntityOf<typeof IDENTITY>

export type IdentityType = Identity['type']

/** What an administrator chooses of an identity; the rest is ours. */
export type ChosenOfIdentity = Pick<Identity, WritableName<typeof IDENTITY>>

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
