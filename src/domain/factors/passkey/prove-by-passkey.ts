/** A passkey as the only credential of a login: D-431. */
import type { FactorOwner } from '../factor-owner.ts'
import type { FactorPorts } from '../ports.ts'
import { usableIdentity } from '../usable-identity.ts'
import { accepted, type PrimaryVerdict, rejected } from '../verdict.ts'
import { judgeAssertion } from './assertion.ts'
import { newChallenge } from './challenge.ts'
import { type RequestOptions, requestOptions } from './options.ts'
import type { RelyingParty } from './relying-party.ts'

export interface PasskeyCredentials {
  /** What the browser answered, as it was sent. */
  readonly assertion: unknown
  readonly owner: FactorOwner
  readonly rp: RelyingParty | undefined
}

/** The options for a login that has no identity yet: any passkey of this site. */
export function signInOptions(
  ports: Pick<FactorPorts, 'vault' | 'random' | 'clock'>,
  { owner, rp }: { readonly owner: FactorOwner; readonly rp: RelyingParty },
): RequestOptions {
  return requestOptions(rp, newChallenge(ports, 'sign-in', owner, ports.clock.now()), 'any')
}

export async function proveByPasskey(
  ports: Pick<FactorPorts, 'vault' | 'clock' | 'rules' | 'identities' | 'passkeys'>,
  { assertion, owner, rp }: PasskeyCredentials,
): Promise<PrimaryVerdict> {
  const judged = await judgeAssertion(ports, assertion, { use: 'sign-in', owner, rp })
  if (judged.verdict === 'wrong') {
    const { why, identityId } = judged
    const reason = why === 'counter' ? 'passkey-cloned' : 'passkey-invalid'
    return { ...rejected(reason, identityId), why }
  }
  const { passkey, take } = judged
  const { id, identityId } = passkey
  const identity = await ports.identities.find(identityId)
  const usable = usableIdentity(identity, (policy) => policy.primary.passkey.allowed, ports)
  if ('refusal' in usable) return rejected(usable.refusal, identityId)
  const proof = { method: 'passkey', authenticatorId: id } as const
  return { ...accepted(usable, proof, ports.clock.now()), take }
}
