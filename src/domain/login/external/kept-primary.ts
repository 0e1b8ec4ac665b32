/**
 * What the password, certificate, passkey or JWT of a browser has proven, while the user gets the second proof that the
 * policy demands from an IdP (D-156). It is sealed into a cookie for this one login, so that the user does not type the
 * password twice. The auth request does not contain it, so only the callback can use it (D-14).
 */
import { fromUtf8, utf8 } from '../../../base/encoding.ts'
import type { Vault } from '../../../base/secrets/vault.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { ProvenPrimary } from '../../factors/proven.ts'
import type { Accepted } from '../../factors/verdict.ts'
import type { LoginPorts } from '../ports.ts'
import type { AuthRequestKey } from '../request/auth-request.ts'

export interface KeptPrimary {
  readonly primary: ProvenPrimary
  readonly configTypes: readonly string[]
}

/** A primary credential that was accepted, and what proved it. */
export interface PrimaryToKeep {
  readonly kept: KeptPrimary
  readonly take: Accepted['take']
}

/**
 * Returns the value of the cookie, after spending what proved the credential: the cookie takes its place, and the login
 * may be finished much later or not at all. Until then the challenge of a passkey could be answered again, and the
 * counter would not show a copy of the key (D-435). Throws INVALID_AUTH if another call was faster.
 */
export async function keepPrimary(
  { vault, transaction }: Pick<LoginPorts, 'vault' | 'transaction'>,
  { kept, take }: PrimaryToKeep,
  key: AuthRequestKey,
): Promise<string> {
  if (take !== undefined) {
    await transaction(async (tx) => {
      if (!(await take(tx))) throw usedBefore()
    })
  }
  return vault.seal('kept-primary', utf8(JSON.stringify(kept)), key)
}

/** Another call answered the same challenge first (D-435). */
export function usedBefore(): Failure {
  return new Failure('INVALID_AUTH', { detail: 'the answer was used before' })
}

/** Returns undefined if the text was not sealed for this login. */
export function openKept(vault: Vault, text: string, key: AuthRequestKey): KeptPrimary | undefined {
  const bytes = vault.open('kept-primary', text, key)
  const plain = bytes && fromUtf8(bytes)
  return plain === undefined ? undefined : (JSON.parse(plain) as KeptPrimary)
}
