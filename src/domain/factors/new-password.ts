/**
 * A password that somebody chooses: whether it may be set, and its hash. API 4.2; R073–R075. Hashing takes its time, so
 * this comes before a transaction and never inside one.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { invalid } from '../refusals.ts'
import { refuseGuessable } from './guessable-passwords.ts'
import type { PasswordHashing } from './hashing.ts'
import { refusePassword } from './password-rules.ts'

export type HashNewPassword = (
  password: Secret,
  /** Whose it will be: its policy says how long it must be, and its names are no secret. */
  of: {
    readonly username: string
    readonly identity: Pick<Identity, 'name'>
    readonly policy: Pick<AuthPolicy, 'primary'>
  },
) => Promise<string>

/** Thrown: COULD_NOT_VALIDATE for a password that may not be set; SERVER_TOO_BUSY. */
export function createHashNewPassword(deps: {
  readonly hashing: Pick<PasswordHashing, 'hash'>
  readonly brand: string
  /** `edge.passwords.rejectCommon`. */
  readonly rejectsCommonPasswords: boolean
}): HashNewPassword {
  return async (password, { username, identity, policy }) => {
    const known = [username, identity.name, deps.brand]
    const fault =
      refusePassword(password, policy.primary.updb.minPasswordLength) ??
      (deps.rejectsCommonPasswords ? await refuseGuessable(password, known) : undefined)
    if (fault !== undefined) throw invalid('password', fault)
    return deps.hashing.hash(password)
  }
}
