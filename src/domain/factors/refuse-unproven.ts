/**
 * A second factor cannot be gone around by enrolling another one: as long as a login has proven none of the factors that
 * its identity has, it adds none (D-437). Otherwise a stolen password would be enough.
 */
import type { IdentityId } from '../../base/ids.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { EnrolledPorts } from './second-factor.ts'
import { enrolledFactors } from './second-factors.ts'

/** Throws FACTOR_NOT_PROVEN. A second authenticator app is refused elsewhere, with MFA_EXISTS. */
export async function refuseUnproven(
  ports: EnrolledPorts,
  { factor, identityId }: { readonly factor: SecondFactorId; readonly identityId: IdentityId },
  proven: ReadonlySet<SecondFactorId>,
): Promise<void> {
  const enrolled = [...(await enrolledFactors(ports, identityId))]
  if (factor === 'totp' && enrolled.includes('totp')) return
  if (enrolled.length === 0 || enrolled.some((id) => proven.has(id))) return
  const next = enrolled.includes('totp') ? 'enter-code' : 'use-passkey'
  throw new Failure('FACTOR_NOT_PROVEN', { next })
}
