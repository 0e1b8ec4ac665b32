/**
 * Checks and hashes a new password. API 4.2; R073–R075. Hashing is slow, so do this before a transaction, never inside
 * one.
 */
import type { Secret } from '../../../base/secrets/secret.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { Identity } from '../../identities/identity.ts'
import type { AuthPolicy } from '../../policies/auth-policy.ts'
import type { FactorPorts } from '../ports.ts'
import { refuseGuessable } from './guessable-passwords.ts'
import { type PasswordFault, refusePassword } from './password-rules.ts'

/** The future owner: the policy sets the minimum length, and the names must not be used as the password. */
export interface PasswordOwner {
  readonly username: string
  readonly identity: Pick<Identity, 'name'>
  readonly policy: Pick<AuthPolicy, 'primary'>
}

/** COULD_NOT_VALIDATE for the password, with the rule that it breaks. */
export class PasswordRefused extends Failure {
  readonly fault: PasswordFault

  constructor(fault: PasswordFault) {
    super('COULD_NOT_VALIDATE', { field: { field: 'password', reason: fault.reason } })
    this.fault = fault
  }
}

/** Throws PasswordRefused, SERVER_TOO_BUSY. */
export async function hashNewPassword(
  ports: Pick<FactorPorts, 'hashing' | 'brand' | 'rejectsCommonPasswords'>,
  password: Secret,
  { username, identity, policy }: PasswordOwner,
): Promise<string> {
  const known = [username, identity.name, ports.brand]
  const fault =
    refusePassword(password, policy.primary.updb.minPasswordLength) ??
    (ports.rejectsCommonPasswords ? await refuseGuessable(password, known) : undefined)
  if (fault !== undefined) throw new PasswordRefused(fault)
  return ports.hashing.hash(password)
}
