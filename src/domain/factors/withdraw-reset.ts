/**
 * When the link of a reset is withdrawn (D-375). It is for the password or the second factors that were there when it was
 * made, so it must not outlive them: in a mailbox, it would remove what replaced them.
 */
import type { IdentityId } from '../../base/ids.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { record } from '../audit/record.ts'
import type { Stores } from '../stores.ts'
import type { EnrollmentProof, SecondFactor } from './second-factor.ts'

interface Withdrawn {
  readonly method: 'reset-password' | 'reset-mfa'
  readonly identityId: IdentityId
}

/**
 * Makes the open link of this method invalid: another one replaces it, or the password or a second factor was changed
 * meanwhile. The caller holds the identity.
 */
export async function withdrawResetWithin(
  ports: AuditPorts,
  tx: Pick<Stores, 'enrollments' | 'events'>,
  { method, identityId }: Withdrawn,
  caller: Caller | undefined,
): Promise<void> {
  for (const id of await tx.enrollments.removeUnused(identityId, method)) {
    await record(ports, tx, caller, { type: 'enrollment.deleted', identityId, details: { id } })
  }
}

/** The factor, with the link withdrawn in the transaction that accepts an enrollment, wherever that is. */
export function withdrawing<Setup>(factor: SecondFactor<Setup>): SecondFactor<Setup> {
  const { enrollment } = factor
  return {
    ...factor,
    enrollment: {
      ...enrollment,
      async prove(ports, prover, answer): Promise<EnrollmentProof> {
        const proof = await enrollment.prove(ports, prover, answer)
        if (proof.verdict !== 'matches') return proof
        const { identityId, caller } = prover
        return {
          ...proof,
          async take(tx) {
            if (!(await proof.take(tx))) return false
            await withdrawResetWithin(ports, tx, { method: 'reset-mfa', identityId }, caller)
            return true
          },
        }
      },
    },
  }
}
