/**
 * Recovery codes, for users who have lost their phone. D-17, R087. Shown once, then stored only as a keyed hash; the
 * store spends them. They are not part of a factor: any of them may stand in for the factor that is asked for (D-262).
 */
import { BASE32_ALPHABET } from '../../base/base32.ts'
import type { IdentityId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { SecretHash, Vault } from '../../base/secrets/vault.ts'
import { spending } from './guessing/code-guesses.ts'
import type { FactorPorts } from './ports.ts'
import type { FactorVerdict } from './second-factor.ts'

const RECOVERY_CODES = 20
const CODE_LENGTH = 6

/** Creates the full set for an identity, without duplicates. */
export function newRecoveryCodes(random: Random): readonly string[] {
  const codes = new Set<string>()
  while (codes.size < RECOVERY_CODES) codes.add(newCode(random))
  return [...codes]
}

/**
 * Returns the hash under which a code is stored and looked up. It is bound to the identity: the same code of another
 * identity has a different hash. Case and spaces are ignored (D-17).
 */
export function recoveryCodeHash(vault: Vault, identityId: IdentityId, text: string): SecretHash {
  return vault.hash('recovery-code', `${identityId}:${withoutSpaces(text).toUpperCase()}`)
}

/** Returns a full set of codes, and the hashes to store. */
export function freshRecoveryCodes(
  { vault, random }: Pick<FactorPorts, 'vault' | 'random'>,
  identityId: IdentityId,
): { readonly recoveryCodes: readonly string[]; readonly hashes: readonly SecretHash[] } {
  const recoveryCodes = newRecoveryCodes(random)
  const hashes = recoveryCodes.map((code) => recoveryCodeHash(vault, identityId, code))
  return { recoveryCodes, hashes }
}

/** Call it for an answer that is not one of the factor's own. Only spending shows whether the code exists (R085). */
export function checkRecoveryCode(
  vault: Vault,
  identityId: IdentityId,
  code: string,
): FactorVerdict {
  if (!isRecoveryCode(code)) return { verdict: 'wrong' }
  const hash = recoveryCodeHash(vault, identityId, code)
  const take = spending(identityId, (tx) => tx.recoveryCodes.take(identityId, hash))
  return { verdict: 'matches', by: 'recovery-code', take }
}

/** Whether a text has the form of a recovery code. ASCII only: `ſ` is not an S, although its upper case is. */
export function isRecoveryCode(text: string): boolean {
  return /^[A-Za-z2-7]{6}$/.test(withoutSpaces(text))
}

/** Users type and paste codes in groups. */
export function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, '')
}

/** 256 is a multiple of 32, so the low five bits of a byte are unbiased. */
function newCode(random: Random): string {
  const bytes = random.bytes(CODE_LENGTH)
  return Array.from(bytes, (byte) => BASE32_ALPHABET.charAt(byte & 31)).join('')
}
