/**
 * A password that somebody chooses: whether it may be set, and its hash. API 4.2; R073–R075. Hashing takes its time, so
 * this comes before a transaction and never inside one.
 */
import type { Secret } from '../../../base/secrets/secret.ts'
import type { Identity } from '../../identities/identity.ts'
import type { AuthPolicy } from '../../policies/auth-policy.ts'
import { invalid } from '../../refusals.ts'
import type { FactorPorts } from '../ports.ts'
import { refuseGuessable } from './guessable-passwords.ts'
import { refusePassword } from './password-rules.ts'

/** Whose it will be: its policy says how long it must be, and its names are no secret. */
export interface PasswordOwner {
  readonly username: string
  readonly identity: Pick<Identity, 'name'>
  readonly policy: Pick<AuthPolicy, 'primary'>
}

/** Throws COULD_NOT_VALIDATE for a password that may not be set, SERVER_TOO_BUSY. */
export async function hashNewPassword(
  ports: Pick<FactorPorts, 'hashing' | 'brand' | 'rejectsCommonPasswords'>,
  password: Secret,
  { username, identity, policy }: PasswordOwner,
): Promise<string> {
  const known = [username, identity.name, ports.brand]
  const fault =
    refusePassword(password, policy.primary.updb.minPasswordLength) ??
    (ports.rejectsCommonPasswords ? await refuseGuessable(password, known) : undefined)
  if (fault !== undefined) throw invalid('password', fault)
  return ports.hashing.hash(password)
}
