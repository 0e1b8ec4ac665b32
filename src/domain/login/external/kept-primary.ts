/**
 * What the password, certificate or JWT of a browser has proven, while the user gets the second proof that the policy
 * demands from an IdP (D-156). It is sealed into a cookie for this one login, so that the user does not type the
 * password twice. The auth request does not contain it, so only the callback can use it (D-14).
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

/** Returns the value of the cookie. */
export function keepPrimary(
  { vault }: Pick<LoginPorts, 'vault'>,
  kept: KeptPrimary,
  key: AuthRequestKey,
): string {
  return vault.seal('kept-primary', utf8(JSON.stringify(kept)), key)
}

/** Returns undefined if the text was not sealed for this login. */
export function openKept(vault: Vault, text: string, key: AuthRequestKey): KeptPrimary | undefined {
  const bytes = vault.open('kept-primary', text, key)
  const plain = bytes && fromUtf8(bytes)
  return plain === undefined ? undefined : (JSON.parse(plain) as KeptPrimary)
}
