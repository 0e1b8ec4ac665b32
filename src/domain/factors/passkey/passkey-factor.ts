/** Passkeys as an entry of the registry of second factors: D-262, D-430. */
import { Failure } from '../../../errors/catalogue.ts'
import { passkeyQuery } from '../../../protocol/auth-query.ts'
import type { FactorPorts } from '../ports.ts'
import type { Prover, SecondFactor } from '../second-factor.ts'
import { checkPasskey } from './assertion.ts'
import { newChallenge } from './challenge.ts'
import { type PasskeySetup, passkeyEnrollment } from './enroll-passkey.ts'
import { type RequestOptions, requestOptions } from './options.ts'

export const passkeyFactor: SecondFactor<PasskeySetup> = {
  id: 'passkey',

  async isEnrolled({ passkeys }, identityId) {
    const enrolled = await passkeys.listEnrolled([identityId])
    return enrolled.has(identityId)
  },

  listEnrolled: ({ passkeys }, identityIds) => passkeys.listEnrolled(identityIds),

  query: passkeyQuery,

  check: checkPasskey,

  enrollment: passkeyEnrollment,
}

/**
 * The options to prove one of the identity's passkeys. Throws MFA_NOT_ENROLLED if there is none; PASSKEYS_UNAVAILABLE if
 * none of them works at this host.
 */
export async function proveOptions(
  ports: Pick<FactorPorts, 'vault' | 'random' | 'clock' | 'passkeys'>,
  { identityId, owner, rp }: Prover,
): Promise<RequestOptions> {
  const passkeys = await ports.passkeys.listOf(identityId)
  if (passkeys.length === 0) throw new Failure('MFA_NOT_ENROLLED', { next: 'enroll-passkey' })
  if (rp === undefined || !passkeys.some(({ rpId }) => rpId === rp.id)) {
    throw new Failure('PASSKEYS_UNAVAILABLE')
  }
  return requestOptions(rp, newChallenge(ports, 'prove', owner, ports.clock.now()), passkeys)
}
