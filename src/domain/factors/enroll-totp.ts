/**
 * Sets up an authenticator app: start, read, prove, cancel, and new recovery codes. SPEC TOTP enrollment during an OIDC
 * flow; D-19, D-240; R084, R087, R089, R090. The callers decide who may do it and what it counts for, and record the
 * events: each `take` belongs in the transaction that does the rest.
 */

import { type IdentityId, newId, type TotpEnrollmentId } from '../../base/ids.ts'
import { provisioningUrl } from '../../protocol/totp.ts'
import type { ClockOff } from '../audit/clock-off.ts'
import type { Identity } from '../identities/identity.ts'
import type { Stores } from '../stores.ts'
import type { FactorPorts } from './ports.ts'
import { newRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts'
import type { Blocked, CheckPorts } from './second-factor.ts'
import { clockOffOf, countGuess, matchingStep, openTotpSecret } from './totp.ts'
import type { EnrollmentOwner, TotpEnrollment } from './totp-enrollment.ts'

export interface StartedEnrollment {
  readonly enrollment: TotpEnrollment
  readonly provisioningUrl: string
  /** R087: shown now and never again. */
  readonly recoveryCodes: readonly string[]
}

export interface ReadEnrollment {
  readonly enrollment: TotpEnrollment
  /** Only while pending: a verified secret is never shown again (R090). */
  readonly provisioningUrl: string | undefined
}

export type EnrollmentProof =
  | {
      readonly verdict: 'matches'
      /** Returns false if another call was faster, or if the enrollment was replaced or cancelled in the meantime. */
      take(tx: Pick<Stores, 'totpEnrollments' | 'codeGuesses'>): Promise<boolean>
    }
  | { readonly verdict: 'wrong'; readonly clock?: ClockOff }
  | { readonly verdict: 'not-started' }
  | Blocked

export interface FreshRecoveryCodes {
  readonly recoveryCodes: readonly string[]
  /** Stores them in place of all remaining ones. */
  take(tx: Pick<Stores, 'totpEnrollments'>): Promise<void>
}

/** R084: 160 bits, as long as the hash (RFC 4226 §4 R6). */
const SECRET_BYTES = 20

/** A pending enrollment is visible only to its owner (D-240). */
type EnrollPorts = CheckPorts & Pick<FactorPorts, 'random' | 'transaction'>

/**
 * Replaces a pending enrollment of any owner, but never a verified one (R090). `hostname` is the issuer that the app
 * displays.
 */
export async function startEnrollment(
  ports: EnrollPorts,
  { id: identityId, name }: Identity,
  owner: EnrollmentOwner,
  hostname: string,
): Promise<StartedEnrollment | 'exists'> {
  const { vault, random, clock } = ports
  const id = newId<TotpEnrollmentId>(random)
  const secret = random.bytes(SECRET_BYTES)
  const enrollment: TotpEnrollment = {
    id,
    identityId,
    isVerified: false,
    owner,
    sealedSecret: vault.seal('totp-secret', secret, id),
    createdAt: clock.now(),
  }
  const { recoveryCodes, hashes } = freshCodes(ports, identityId)
  const stored = await ports.transaction((tx) =>
    tx.totpEnrollments.replacePending(enrollment, hashes),
  )
  if (!stored) return 'exists'
  const url = provisioningUrl({ issuer: hostname, name, secret })
  return { enrollment, provisioningUrl: url, recoveryCodes }
}

export async function readEnrollment(
  { vault, totpEnrollments }: Pick<EnrollPorts, 'vault' | 'totpEnrollments'>,
  { id: identityId, name }: Pick<Identity, 'id' | 'name'>,
  owner: EnrollmentOwner,
  hostname: string,
): Promise<ReadEnrollment | undefined> {
  const enrollment = await totpEnrollments.find(identityId)
  if (enrollment === undefined) return undefined
  if (enrollment.isVerified) return { enrollment, provisioningUrl: undefined }
  if (enrollment.owner !== owner) return undefined
  const secret = openTotpSecret(vault, enrollment)
  const url = provisioningUrl({ issuer: hostname, name, secret })
  return { enrollment, provisioningUrl: url }
}

/** Checks a code of the pending enrollment's app. Recovery codes are not accepted, and no time step is spent (D-17). */
export async function proveEnrollment(
  { vault, clock, totpEnrollments, codeGuesses }: CheckPorts,
  identityId: IdentityId,
  owner: EnrollmentOwner,
  code: string,
): Promise<EnrollmentProof> {
  const now = clock.now()
  const enrollment = await totpEnrollments.find(identityId)
  // Without a pending enrollment of this owner there is nothing to guess, so nothing is counted: otherwise one login
  // could make the owner of another wait.
  const isPending = enrollment?.isVerified === false && enrollment.owner === owner
  if (!isPending) return { verdict: 'not-started' }
  const blocked = await countGuess(codeGuesses, identityId, now)
  if (blocked !== undefined) return blocked
  const secret = openTotpSecret(vault, enrollment)
  if (matchingStep(secret, code, now) === undefined) {
    return { verdict: 'wrong', ...clockOffOf(secret, code, now) }
  }
  return {
    verdict: 'matches',
    take: async (tx) => {
      if (!(await tx.totpEnrollments.markVerified(enrollment, now))) return false
      await tx.codeGuesses.clear(identityId)
      return true
    },
  }
}

/** Keeps a verified enrollment: only a full session can remove it (D-19). */
export function cancelEnrollment(
  { transaction }: Pick<EnrollPorts, 'transaction'>,
  identityId: IdentityId,
  owner: EnrollmentOwner,
): Promise<'cancelled' | 'not-started' | 'verified'> {
  return transaction(async (tx) => {
    if (await tx.totpEnrollments.removePending(identityId, owner)) return 'cancelled'
    const left = await tx.totpEnrollments.find(identityId)
    return left?.isVerified ? 'verified' : 'not-started'
  })
}

/** The caller must have checked a code first (API 3.1). */
export function newRecoveryCodesOf(
  ports: Pick<EnrollPorts, 'vault' | 'random'>,
  identityId: IdentityId,
): FreshRecoveryCodes {
  const { recoveryCodes, hashes } = freshCodes(ports, identityId)
  return {
    recoveryCodes,
    take: (tx) => tx.totpEnrollments.replaceRecoveryCodes(identityId, hashes),
  }
}

function freshCodes(
  { vault, random }: Pick<EnrollPorts, 'vault' | 'random'>,
  identityId: IdentityId,
) {
  const recoveryCodes = newRecoveryCodes(random)
  const hashes = recoveryCodes.map((code) => recoveryCodeHash(vault, identityId, code))
  return { recoveryCodes, hashes }
}
