/**
 * The primary factor username and password. SPEC Primary login; D-12.
 *
 * It returns a verdict and never touches the auth request. Every refusal costs the same work: one hash, whether
 * the name exists or not (R077). The reason is for the audit log alone.
 */
import type { Clock } from '../../base/clock.ts'
import type { IdentityId } from '../../base/ids.ts'
import type { Secret } from '../../base/secret.ts'
import type { LoginFailureReason } from '../audit/events.ts'
import {
  type Identity,
  isDisabled,
  type UpdbAuthenticator,
  usernameKey,
} from '../identities/identity.ts'
import type { Authenticators, Identities } from '../identities/stores.ts'
import type { AuthPolicies } from '../policies/stores.ts'
import type { PasswordHashing } from './hashing.ts'

export interface PasswordCredentials {
  readonly username: string
  readonly password: Secret
}

export type PasswordVerdict =
  | {
      readonly verdict: 'accepted'
      readonly identity: Identity
      readonly authenticator: UpdbAuthenticator
    }
  | {
      readonly verdict: 'rejected'
      readonly reason: LoginFailureReason
      readonly identityId: IdentityId | undefined
    }

export type PasswordFactor = (credentials: PasswordCredentials) => Promise<PasswordVerdict>

export function createPasswordFactor(deps: {
  readonly authenticators: Pick<Authenticators, 'findUpdb' | 'replacePasswordHash'>
  readonly identities: Pick<Identities, 'find'>
  readonly authPolicies: Pick<AuthPolicies, 'find'>
  readonly hashing: PasswordHashing
  readonly clock: Clock
}): PasswordFactor {
  const { authenticators, identities, authPolicies, hashing, clock } = deps

  return async ({ username, password }) => {
    const authenticator = await authenticators.findUpdb(usernameKey(username))
    if (authenticator === undefined) {
      await hashing.verifyNothing(password)
      return { verdict: 'rejected', reason: 'unknown-username', identityId: undefined }
    }
    const { identityId } = authenticator
    const reject = (reason: LoginFailureReason): PasswordVerdict => ({
      verdict: 'rejected',
      reason,
      identityId,
    })
    if (!(await hashing.verify(authenticator.passwordHash, password))) {
      return reject('wrong-password')
    }
    // Read after the hash was checked: what counts is the state at the moment of the decision.
    const identity = await identities.find(identityId)
    if (identity === undefined) return reject('identity-missing')
    if (isDisabled(identity, clock.now())) return reject('identity-disabled')
    const policy = await authPolicies.find(identity.authPolicyId)
    if (!policy?.primary.updb.allowed) return reject('method-not-allowed')

    if (hashing.isWeak(authenticator.passwordHash)) {
      const stronger = await hashing.hash(password)
      const { id, passwordHash } = authenticator
      await authenticators.replacePasswordHash(id, passwordHash, stronger, clock.now())
    }
    return { verdict: 'accepted', identity, authenticator }
  }
}
