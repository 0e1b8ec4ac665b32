/**
 * Challenges for passkeys: WebAuthn Level 3 §13.4.3. A challenge is 32 random bytes, sealed with its purpose, its end and
 * the login or session that it was made for. So nothing is stored until a valid answer spends it, and anonymous callers
 * can ask for any number (D-435, R116).
 */
import type { Random } from '../../../base/secrets/random.ts'
import type { SecretHash, Vault } from '../../../base/secrets/vault.ts'
import { minutes } from '../../../base/time/duration.ts'
import { type Instant, instant, plus } from '../../../base/time/instant.ts'
import type { FactorOwner } from '../factor-owner.ts'

/** What an answer to the challenge may do: begin a login, prove a second factor, or add a passkey. */
export type ChallengeUse = 'sign-in' | 'prove' | 'enroll'

export interface Challenge {
  /** To spend it once. */
  readonly hash: SecretHash
  readonly expiresAt: Instant
  /** Whether new recovery codes were shown with it. */
  readonly withCodes: boolean
}

/** As long as a login lives: a page may wait for its user, with the options at hand for autofill. */
const CHALLENGE_LIFE = minutes(10)
const RANDOM_BYTES = 32
const TIME_BYTES = 6

export function newChallenge(
  { vault, random }: { readonly vault: Vault; readonly random: Random },
  use: ChallengeUse,
  owner: FactorOwner,
  now: Instant,
  withCodes = false,
): string {
  const end = Buffer.alloc(TIME_BYTES)
  end.writeUIntBE(plus(now, CHALLENGE_LIFE), 0, TIME_BYTES)
  const plain = Buffer.concat([random.bytes(RANDOM_BYTES), end, Buffer.from([withCodes ? 1 : 0])])
  return vault.seal('passkey-challenge', plain, `${use} ${owner}`)
}

/** Returns undefined for a challenge that is not ours, has expired, or was made for another use or owner. */
export function openChallenge(
  vault: Vault,
  text: string,
  use: ChallengeUse,
  owner: FactorOwner,
  now: Instant,
): Challenge | undefined {
  const plain = vault.open('passkey-challenge', text, `${use} ${owner}`)
  if (plain?.length !== RANDOM_BYTES + TIME_BYTES + 1) return undefined
  const bytes = Buffer.from(plain)
  const expiresAt = instant(bytes.readUIntBE(RANDOM_BYTES, TIME_BYTES))
  if (expiresAt <= now) return undefined
  const withCodes = bytes.readUInt8(RANDOM_BYTES + TIME_BYTES) === 1
  return { hash: vault.hash('passkey-challenge', text), expiresAt, withCodes }
}

/** The recovery codes that are shown with a challenge are made from it, so that they need not be stored before. */
export function randomOf(vault: Vault, challenge: string): Random {
  let block = 0
  return {
    bytes(length) {
      const blocks: Buffer[] = []
      for (let size = 0; size < length; size += 32) {
        block += 1
        blocks.push(Buffer.from(vault.hash('passkey-codes', `${block} ${challenge}`), 'base64url'))
      }
      return new Uint8Array(Buffer.concat(blocks).subarray(0, length))
    },
  }
}
