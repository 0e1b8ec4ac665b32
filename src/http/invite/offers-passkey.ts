/** Whether an invited person is offered a passkey beside the password (D-447): one that is demanded follows anyway. */
import type { AuthPolicy } from '../../domain/policies/auth-policy.ts'
import type { Call } from '../call.ts'
import type { InviteListener } from './form-route.ts'

export function offersPasskey(
  { relyingParty }: InviteListener,
  call: Call,
  { primary, secondary }: AuthPolicy,
): boolean {
  const isDemanded = secondary.requirePasskey || secondary.requireTotpOrPasskey
  return primary.passkey.allowed && !isDemanded && relyingParty(call) !== undefined
}
