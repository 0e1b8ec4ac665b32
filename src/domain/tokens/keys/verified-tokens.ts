/**
 * Access tokens that were verified before, so that the signature of a token is checked once and not at every call
 * (D-279). An entry holds only what can never change: which key signed the token, and what it says. Whether the key is
 * still published, the token in date, its session alive and its policy satisfied is decided again at every call.
 */
import { hash } from 'node:crypto'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import type { Secret } from '../../../base/secrets/secret.ts'
import type { AccessToken } from '../access-token.ts'

export interface VerifiedToken {
  readonly kid: string
  readonly token: AccessToken
}

export interface VerifiedTokens {
  /** Returns undefined for a token that was not verified, or not recently. */
  find(text: Secret): VerifiedToken | undefined
  add(text: Secret, verified: VerifiedToken): void
}

/** About 10 MiB. Only valid tokens are added, so an anonymous caller cannot push others out. */
const MOST_VERIFIED_TOKENS = 10_000

export function createVerifiedTokens(most = MOST_VERIFIED_TOKENS): VerifiedTokens {
  // By the hash of the whole token: the memory then holds no credential, and no two tokens share an entry.
  const byHash = new BoundedMap<string, VerifiedToken>(most)
  const keyOf = (text: Secret) => hash('sha256', text.reveal(), 'base64')
  return {
    find: (text) => byHash.get(keyOf(text)),
    add: (text, verified) => byHash.set(keyOf(text), verified),
  }
}
