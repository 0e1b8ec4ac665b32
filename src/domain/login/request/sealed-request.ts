/**
 * An auth request on which no factor has been proven yet is not stored. It travels inside its own id, encrypted and
 * authenticated under the installation secret (D-7). So anonymous callers can begin any number of logins without
 * filling the database (R116).
 */
import { fromUtf8, utf8 } from '../../../base/encoding.ts'
import type { SecretHash, Vault } from '../../../base/secrets/vault.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { AuthRequestId, AuthRequestKey, AwaitingPrimary, ClientAsk } from './auth-request.ts'

/** D-7: at most 4 KiB, so that the id fits in URLs and headers. */
const LONGEST_ID = 4096

/** The sealed content. The seal proves that we wrote it, so its shape needs no checks. */
interface Sealed {
  readonly key: AuthRequestKey
  readonly ask: ClientAsk
  readonly browser?: SecretHash
  readonly expiresAt: Instant
}

/** Returns the id for the client, or undefined if the request is too long to be sealed. */
export function sealRequest(vault: Vault, request: AwaitingPrimary): AuthRequestId | undefined {
  const { key, ask, browser, expiresAt } = request
  const sealed: Sealed =
    browser === undefined ? { key, ask, expiresAt } : { key, ask, browser, expiresAt }
  const id = vault.seal('auth-request', utf8(JSON.stringify(sealed)))
  return id.length <= LONGEST_ID ? (id as AuthRequestId) : undefined
}

/** Returns the request that was sealed into this id, or undefined if we did not create the id. */
export function openRequest(vault: Vault, id: string): AwaitingPrimary | undefined {
  if (id.length > LONGEST_ID) return undefined
  const bytes = vault.open('auth-request', id)
  const text = bytes && fromUtf8(bytes)
  if (text === undefined) return undefined
  const { key, ask, browser, expiresAt } = JSON.parse(text) as Sealed
  return { state: 'awaiting-primary', key, ask, browser, expiresAt }
}
