/** What the factors, and the limits on guessing, need from outside. Built once, in `app/compose`. */
import type { Vault } from '../../base/secrets/vault.ts'
import type { AuditPorts } from '../audit/ports.ts'
import type { SignerKeyCache } from '../ext-jwt/signer-keys.ts'
import type { Rules } from '../policies/rules.ts'
import type { Stores, Transaction } from '../stores.ts'
import type { PasswordHashing } from './passwords/hashing.ts'
import type { SecondFactorStores } from './stores.ts'

export interface FactorPorts
  extends AuditPorts,
    SecondFactorStores,
    Pick<
      Stores,
      | 'identities'
      | 'authenticators'
      | 'passwordFailures'
      | 'apiSessions'
      | 'refreshTokens'
      | 'sessionCertificates'
    > {
  readonly transaction: Transaction
  readonly brand: string
  readonly vault: Vault
  readonly hashing: PasswordHashing
  readonly rules: Rules
  readonly signerKeys: SignerKeyCache
  /** Our own root and issuing CAs, in PEM. */
  readonly ownAnchors: () => readonly string[]
  /** `edge.passwords.rejectCommon`. */
  readonly rejectsCommonPasswords: boolean
}
