/**
 * Recovery codes: what gets somebody in whose phone is gone. D-17, R087. Shown once, then known only as a keyed hash;
 * the store spends them.
 */
import { BASE32_ALPHABET } from '../../base/base32.ts'
import type { IdentityId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { SecretHash, Vault } from '../../base/secrets/vault.ts'

const RECOVERY_CODES = 20
const CODE_LENGTH = 6

/** As many as an identity gets, no two alike. */
export function newRecoveryCodes(random: Random): readonly string[] {
  const codes = new Set<string>()
  while (codes.size < RECOVERY_CODES) codes.add(newCode(random))
  return [...codes]
}

/**
 * The form in which a code is stored and looked for. Bound to its identity: the same code of somebody else has another
 * hash. Case and spaces do not count (D-17).
 */
export function recoveryCodeHash(vault: Vault, identityId: IdentityId, text: string): SecretHash {
  return vault.hash('recovery-code', `${identityId}:${withoutSpaces(text).toUpperCase()}`)
}

/** Whether a text can be a recovery code at all. Only ASCII counts: `ſ` is no S, though its upper case is. */
export function isRecoveryCode(text: string): boolean {
  return /^[A-Za-z2-7]{6}$/.test(withoutSpaces(text))
}

/** People type and paste codes in groups. */
export function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, '')
}

/** 32 characters share 256 bytes evenly, so the low five bits of a byte favour none. */
function newCode(random: Random): string {
  const bytes = random.bytes(CODE_LENGTH)
  return Array.from(bytes, (byte) => BASE32_ALPHABET.charAt(byte & 31)).join('')
}
