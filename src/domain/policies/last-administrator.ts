/**
 * D-49, D-114: no call leaves the service without an administrator who can log in. Whatever can take somebody's way in
 * away does so through `keepAdministrator`, in its transaction.
 *
 * Whether somebody can log in is decided by what is registered: that the password is known, the certificate valid
 * and the signer alive, nobody can see from here.
 */
import type { IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import type { Authenticator } from '../identities/authenticator.ts'
import { type Identity, isDisabled } from '../identities/identity.ts'
import type { Stores } from '../stores.ts'
import type { AuthPolicy } from './auth-policy.ts'

type Tx = Pick<
  Stores,
  'identities' | 'authenticators' | 'authPolicies' | 'externalJwtSigners' | 'cas'
>

/** What a login can be proven by, besides the authenticators. */
interface Anchors {
  readonly signers: readonly ExternalJwtSigner[]
  readonly cas: readonly Ca[]
}

/**
 * Makes the change, and throws LAST_ADMINISTRATOR, which undoes it with the transaction, when nobody is left after
 * it. `concerned` is the administrator whose way in it is; undefined where it may be anybody's. The transaction must
 * not hold an identity before: two calls would wait for each other.
 */
export async function keepAdministrator<T>(
  tx: Tx,
  concerned: IdentityId | undefined,
  { now, caller }: { readonly now: Instant; readonly caller: Caller },
  change: () => Promise<T>,
): Promise<T> {
  // Asked for the lock that comes with the answer: two administrators cannot remove each other at once.
  await tx.identities.hasOtherAdministrator(concerned ?? NOBODY, now)
  const result = await change()
  if (!(await isAnybodyLeft(tx, now, caller.actorId))) throw new Failure('LAST_ADMINISTRATOR')
  return result
}

const NOBODY = '' as IdentityId
const PAGE_SIZE = 500

async function isAnybodyLeft(
  tx: Tx,
  now: Instant,
  actorId: IdentityId | undefined,
): Promise<boolean> {
  const anchors = { signers: await tx.externalJwtSigners.list(), cas: await tx.cas.list() }
  const canGetIn = async (identity: Identity | undefined): Promise<boolean> => {
    if (identity?.isAdmin !== true || isDisabled(identity, now)) return false
    const policy = await tx.authPolicies.find(identity.authPolicyId)
    const authenticators = await tx.authenticators.listOf(identity.id)
    return policy !== undefined && canLogIn(identity, policy, authenticators, anchors)
  }
  // Mostly it is the caller who stays, and nobody else need be looked at.
  if (actorId !== undefined && (await canGetIn(await tx.identities.find(actorId)))) return true
  for (let offset = 0; ; offset += PAGE_SIZE) {
    const { rows } = await tx.identities.list({ limit: PAGE_SIZE, offset })
    for (const identity of rows) if (await canGetIn(identity)) return true
    if (rows.length < PAGE_SIZE) return false
  }
}

/** Whether there is a primary method that the policy allows and that can lead to this identity. */
export function canLogIn(
  identity: Pick<Identity, 'externalId'>,
  { primary, secondary }: Pick<AuthPolicy, 'primary' | 'secondary'>,
  authenticators: readonly Pick<Authenticator, 'method'>[],
  { signers, cas }: Anchors,
): boolean {
  const enabled = signers.filter((signer) => signer.enabled)
  const { requireExtJwt } = secondary
  if (requireExtJwt !== undefined && !enabled.some(({ id }) => id === requireExtJwt)) return false

  const has = (method: Authenticator['method']) =>
    authenticators.some((authenticator) => authenticator.method === method)
  const isNamed = identity.externalId !== undefined
  if (primary.updb.allowed && has('updb')) return true
  const isClaimed = cas.some(
    (ca) => ca.isVerified && ca.isAuthEnabled && ca.externalIdClaim !== undefined,
  )
  if (primary.cert.allowed && (has('cert') || (isNamed && isClaimed))) return true

  const { allowed, allowedSigners } = primary.extJwt
  return (
    allowed &&
    enabled.some(
      ({ id, useExternalId }) =>
        (allowedSigners.length === 0 || allowedSigners.includes(id)) && (isNamed || !useExternalId),
    )
  )
}
