/** A user or machine that can log in. API 4.1. */
import type { IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { EntityOf, Tags, WritableName } from '../../entities/field.ts'
import type { IDENTITY } from '../../entities/identity.ts'

export type { Tags }

export type Identity = EntityOf<typeof IDENTITY>

/** The fields that an administrator can set; the service sets the rest. */
export type ChosenOfIdentity = Pick<Identity, WritableName<typeof IDENTITY>>

/** A new identity, which has never logged in. */
export type FreshIdentity = Omit<
  Identity,
  'envInfo' | 'sdkInfo' | 'voidedLogins' | 'roleVersion' | 'lastLoginAt'
>

/** Short texts under fixed names. A client states this about itself: it is only displayed, never trusted. */
export type ClientInfo = Readonly<Record<string, string>>

/** An identity that is created now, with the defaults of API 4.1. */
export function freshIdentity(
  chosen: Pick<Identity, 'id' | 'name' | 'authPolicyId'> & Partial<ChosenOfIdentity>,
  now: Instant,
): FreshIdentity {
  return {
    type: 'Default',
    isAdmin: false,
    externalId: undefined,
    roleAttributes: [],
    hosts: [],
    appData: {},
    tags: {},
    ...chosen,
    disabledAt: undefined,
    disabledUntil: undefined,
    createdAt: now,
    updatedAt: now,
  }
}

export function isDisabled(
  identity: Pick<Identity, 'disabledAt' | 'disabledUntil'>,
  now: Instant,
): boolean {
  if (identity.disabledAt === undefined) return false
  return identity.disabledUntil === undefined || identity.disabledUntil > now
}

/** Returns the ids of the identities that these belong to, without duplicates. */
export function ownersOf(
  owned: readonly { readonly identityId: IdentityId }[],
): readonly IdentityId[] {
  return [...new Set(owned.map(({ identityId }) => identityId))]
}
