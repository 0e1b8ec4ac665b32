/**
 * What a reset needs. D-375: a link for a forgotten password or a lost phone. Nothing changes until it is used; whatever
 * was stolen is re-enrolled instead, which takes effect at once.
 */
import type { IdentityId } from '../../../base/ids.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { EnrolledPorts } from '../../factors/second-factor.ts'
import { listWithAnyFactor } from '../../factors/second-factors.ts'
import type { Authenticator } from '../../identities/authenticator.ts'
import { invalid } from '../../refusals.ts'
import type { ResetKind } from '../enrollment.ts'

type Reset = ResetKind & { readonly identityId: IdentityId }

/** Throws COULD_NOT_VALIDATE, MFA_NOT_ENROLLED: there is nothing to reset. */
export async function refuseReset(
  tx: EnrolledPorts,
  { method, identityId }: Reset,
  own: readonly Authenticator[],
): Promise<void> {
  if (method === 'reset-password') {
    if (own.some((one) => one.method === 'updb')) return
    throw invalid('method', 'resets a password, and the identity has none; use updb')
  }
  if (!(await listWithAnyFactor(tx, [identityId])).has(identityId)) {
    throw new Failure('MFA_NOT_ENROLLED')
  }
}
