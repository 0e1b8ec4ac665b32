/**
 * An auth request that nobody has proven anything on yet is not stored: it travels inside its own id,
 * encrypted and authenticated under the installation secret (D-7). Strangers can begin as many logins as they
 * like without filling the database (R116).
 */
import { fromUtf8, utf8 } from '../../../base/encoding.ts'
import type { SecretHash, Vault } from '../../../base/secrets/vault.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { AuthRequestId, AuthRequestKey, AwaitingPrimary, ClientAsk } from './auth-request.ts'

/** D-7: 4 KiB at most, so that it fits every URL and header on its way. */
const LONGEST_ID = 4096

/** What is inside the seal. The seal proves that we wrote it, so reading it back needs no checks. */
interface Sealed {
  readonly key: AuthRequestKey
  readonly ask: ClientAsk
  readonly browser?: SecretHash
  readonly expiresAt: Instant
}

/** The id that the client holds, or undefined when the request is too long to be sealed. */
export function sealRequest(vault: Vault, request: AwaitingPrimary): AuthRequestId | undefined {
  const { key, ask, browser, expiresAt } = request
  const sealed: Sealed =
    browser === undefined ? { key, ask, expiresAt } : { key, ask, browser, expiresAt }
  const id = vault.seal('auth-request', utf8(JSON.stringify(sealed)))
  return id.length <= LONGEST_ID ? (id as AuthRequestId) : undefined
}

/** The request that was sealed into this id; undefined for any text that we did not make. */
export function openRequest(vault: Vault, id: string): AwaitingPrimary | undefined {
  if (id.length > LONGEST_ID) return undefined
  const bytes = vault.open('auth-request', id)
  const text = bytes && fromUtf8(bytes)
  if (text === undefined) return undefined
  const { key, ask, browser, expiresAt } = JSON.parse(text) as Sealed
  return { state: 'awaiting-primary', key, ask, browser, expiresAt }
}
