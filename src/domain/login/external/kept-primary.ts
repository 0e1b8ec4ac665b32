/**
 * What the password, certificate or JWT of a browser has proven, while the person gets the second proof that the policy
 * demands from an IdP (D-156). Sealed into a cookie, for this one login: the auth request knows nothing of it, so
 * nothing but the callback can build on it (D-14), and nobody types a password twice.
 */
import { fromUtf8, utf8 } from '../../../base/encoding.ts'
import type { Vault } from '../../../base/secrets/vault.ts'
import type { ProvenPrimary } from '../../factors/proven.ts'
import type { LoginPorts } from '../ports.ts'
import type { AuthRequestKey } from '../request/auth-request.ts'

export interface KeptPrimary {
  readonly primary: ProvenPrimary
  readonly configTypes: readonly string[]
}

/** Returns the text of the cookie. */
export function keepPrimary(
  { vault }: Pick<LoginPorts, 'vault'>,
  kept: KeptPrimary,
  key: AuthRequestKey,
): string {
  return vault.seal('kept-primary', utf8(JSON.stringify(kept)), key)
}

/** Undefined for every text that was not sealed for this login. */
export function openKept(vault: Vault, text: string, key: AuthRequestKey): KeptPrimary | undefined {
  const bytes = vault.open('kept-primary', text, key)
  const plain = bytes && fromUtf8(bytes)
  return plain === undefined ? undefined : (JSON.parse(plain) as KeptPrimary)
}
