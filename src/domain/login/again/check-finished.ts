/**
 * Checks a finished login again before it gets tokens: at the exchange of its code, and for its session at every
 * refresh. In addition to the checks of every step (`check-again.ts`), what proved the login must still be registered,
 * and the policy must not demand more than was proven. R047; D-27, D-119, D-122, D-227.
 */
import type { AuthenticatorId } from '../../../base/ids.ts'
import type { TokenRefusalReason } from '../../audit/reasons.ts'
import type { ProvenPrimary, ProvenSecondary } from '../../factors/proven.ts'
import type { Authenticator } from '../../identities/authenticator.ts'
import type { Identity } from '../../identities/identity.ts'
import { usernameAmong } from '../../identities/preferred-username.ts'
import type { Authenticators } from '../../identities/stores.ts'
import type { AuthPolicy } from '../../policies/auth-policy.ts'
import type { Rules } from '../../policies/rules.ts'
import { type CheckPorts, checkAgain } from '../check-again.ts'
import { demandedSigner, isShortOf } from '../demands.ts'

export interface Finished {
  readonly primary: ProvenPrimary
  readonly secondary: ProvenSecondary
  /** The key that the tokens are bound to, and whether they are never handed out (D-454, D-455). */
  readonly boundKey?: string | undefined
  readonly isSealed?: true | undefined
}

export async function checkFinished(
  ports: CheckPorts & {
    readonly authenticators: Pick<Authenticators, 'listOf'>
  } & PasskeysById,
  { primary, secondary, boundKey, isSealed }: Finished,
  of: 'login' | 'session',
): Promise<
  | { readonly identity: Identity; readonly username: string }
  | { readonly refusal: TokenRefusalReason }
> {
  const owner = await checkAgain(ports, primary, of)
  if ('refusal' in owner) return owner
  const { identity, policy } = owner
  if (isShortOf(policy, secondary)) return { refusal: 'more-demanded' }
  const isBound = boundKey !== undefined || primary.certificate !== undefined || isSealed === true
  if (policy.secondary.requireBoundToken && !isBound) return { refusal: 'token-not-bound' }
  if (isSecondaryWithdrawn(policy, ports.rules)) return { refusal: 'signer-disabled' }
  const registered = await ports.authenticators.listOf(identity.id)
  if (!(await isStillRegistered(ports, primary, registered, of))) {
    return { refusal: 'authenticator-removed' }
  }
  return { identity, username: usernameAmong(identity, registered) }
}

/** A disabled signer satisfies no policy, even if its token was accepted at the login. */
export function isSecondaryWithdrawn(policy: AuthPolicy, rules: Pick<Rules, 'signer'>): boolean {
  const demanded = demandedSigner(policy, rules)
  return demanded !== undefined && demanded.signer?.enabled !== true
}

interface PasskeysById {
  readonly passkeys: { find(id: AuthenticatorId): Promise<object | undefined> }
}

/**
 * A login needs exactly the credential that it presented (D-122). A session survives a change of its owner's password,
 * and the renewal of a certificate, which moves the session to the new one (D-123, D-130).
 */
export async function isStillRegistered(
  { passkeys }: PasskeysById,
  { method, authenticatorId, credentialVersion = 0, certificate }: ProvenPrimary,
  registered: readonly Authenticator[],
  of: 'login' | 'session',
): Promise<boolean> {
  if (method === 'passkey') {
    return authenticatorId !== undefined && (await passkeys.find(authenticatorId)) !== undefined
  }
  if (authenticatorId === undefined) return true
  const existing = registered.find(({ id }) => id === authenticatorId)
  if (existing === undefined) return false
  if (of === 'login' && existing.credentialVersion !== credentialVersion) return false
  if (existing.method !== 'cert' || certificate === undefined) return true
  const { fingerprint } = certificate
  return fingerprint === existing.fingerprint || fingerprint === existing.renewal?.fingerprint
}
