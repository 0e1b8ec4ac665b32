/**
 * An auth request on which no factor has been proven yet is not stored. It travels packed inside its own id, encrypted and
 * authenticated under the installation secret (D-7). So anonymous callers can begin any number of logins without
 * filling the database (R116).
 */
import type { Vault } from '../../../base/secrets/vault.ts'
import type { AuthRequestId, AwaitingPrimary } from './auth-request.ts'
import { packRequest, unpackRequest } from './packed-request.ts'

/** D-7: at most 4 KiB, so that the id fits in URLs and headers. */
const LONGEST_ID = 4096

/** Returns the id for the client, or undefined if the request is too long to be sealed. */
export function sealRequest(vault: Vault, request: AwaitingPrimary): AuthRequestId | undefined {
  const id = vault.seal('auth-request', packRequest(request))
  return id.length <= LONGEST_ID ? (id as AuthRequestId) : undefined
}

/** Returns the request that was sealed into this id, or undefined if we did not create the id. */
export function openRequest(vault: Vault, id: string): AwaitingPrimary | undefined {
  if (id.length > LONGEST_ID) return undefined
  const bytes = vault.open('auth-request', id)
  // The seal proves that we wrote it, so its shape needs no checks.
  return bytes && unpackRequest(bytes)
}
