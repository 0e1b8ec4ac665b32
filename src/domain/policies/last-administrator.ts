/**
 * D-49, D-114: no call may leave the service without an administrator who can log in. Every change that can remove a
 * way to log in goes through `keepAdministrator`, in its transaction.
 *
 * The check considers only what is registered. It cannot tell whether the password is known, the certificate valid or
 * the signer reachable.
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
import { type AuthPolicy, allowsSigner } from './auth-policy.ts'

type Tx = Pick<
  Stores,
  'identities' | 'authenticators' | 'authPolicies' | 'externalJwtSigners' | 'cas'
>

/** What a login can use besides the authenticators. */
interface Anchors {
  readonly signers: readonly ExternalJwtSigner[]
  readonly cas: readonly Ca[]
}

/**
 * Makes the change, and throws LAST_ADMINISTRATOR, which rolls back the transaction, if no administrator could log in
 * afterwards. `concerned` is the administrator whose login is affected; undefined if it may be any. The transaction
 * must not lock an identity before this call, to avoid a deadlock.
 */
export async function keepAdministrator<T>(
  tx: Tx,
  concerned: IdentityId | undefined,
  { now, caller }: { readonly now: Instant; readonly caller: Caller },
  change: () => Promise<T>,
): Promise<T> {
  const held = await tx.identities.holdAdministrators(concerned, now)
  const result = await change()
  // Check the caller first: usually they remain, and no other identity needs to be read.
  const actor = held.filter((id) => id === caller.actorId)
  if (!(await canAnyLogIn(tx, now, [...actor, ...held]))) throw new Failure('LAST_ADMINISTRATOR')
  return result
}

/**
 * Counts only administrators who are locked: another transaction could be removing one who became one since (D-485).
 */
async function canAnyLogIn(tx: Tx, now: Instant, held: readonly IdentityId[]): Promise<boolean> {
  const anchors = { signers: await tx.externalJwtSigners.list(), cas: await tx.cas.list() }
  const canGetIn = async (identity: Identity | undefined): Promise<boolean> => {
    if (identity?.isAdmin !== true || isDisabled(identity, now)) return false
    const policy = await tx.authPolicies.find(identity.authPolicyId)
    const authenticators = await tx.authenticators.listOf(identity.id)
    return policy !== undefined && canLogIn(identity, policy, authenticators, anchors)
  }
  for (const id of held) if (await canGetIn(await tx.identities.find(id))) return true
  return false
}

/** Returns whether the policy allows a primary method that this identity can use. */
export function canLogIn(
  identity: Pick<Identity, 'externalId'>,
  policy: Pick<AuthPolicy, 'primary' | 'secondary'>,
  authenticators: readonly Pick<Authenticator, 'method'>[],
  { signers, cas }: Anchors,
): boolean {
  const enabled = signers.filter((signer) => signer.enabled)
  const { primary, secondary } = policy
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

  return enabled.some(
    ({ id, useExternalId }) => allowsSigner(policy, id) && (isNamed || !useExternalId),
  )
}
