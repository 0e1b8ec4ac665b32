/**
 * The code that a user types to connect a device: RFC 8628 §6.1. Its letters have no vowels, so that no words appear, and
 * none that are easily confused. 20^8 codes are 34.5 bits (D-441).
 */
import type { Brand } from '../../base/brand.ts'
import type { Random } from '../../base/secrets/random.ts'

/** Eight letters, without the dash. */
export type UserCode = Brand<string, 'UserCode'>

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8

/** The largest multiple of the number of letters in a byte: larger bytes would make some letters more likely. */
const UNBIASED = 256 - (256 % LETTERS.length)

/** Longer input is never a code, however it is written. */
const LONGEST_INPUT = 64

export function newUserCode(random: Random): UserCode {
  let code = ''
  while (code.length < LENGTH) {
    for (const byte of random.bytes(LENGTH)) {
      if (byte < UNBIASED && code.length < LENGTH) code += LETTERS[byte % LETTERS.length]
    }
  }
  return code as UserCode
}

/** Accepts any case, with or without the dash, and with spaces. Returns undefined if it is not a code. */
export function parseUserCode(text: string): UserCode | undefined {
  if (text.length > LONGEST_INPUT) return undefined
  const letters = text.replaceAll(/[\s\p{Pd}]/gu, '').toUpperCase()
  const isCode = letters.length === LENGTH && [...letters].every((one) => LETTERS.includes(one))
  return isCode ? (letters as UserCode) : undefined
}

/** As it is shown: `XXXX-XXXX`. */
export function shownUserCode(code: UserCode): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`
}
