/** The users of the demo: one for each login method. */
import { BASE32_ALPHABET } from '../base/base32.ts'
import type { Random } from '../base/secrets/random.ts'

/** Users with a password, including the first administrator. */
export const WITH_PASSWORD = ['admin', 'paula', 'tina', 'tom', 'dora'] as const
export type WithPassword = (typeof WITH_PASSWORD)[number]
export type Passwords = Readonly<Record<WithPassword, string>>

/** Users that the demo's identity provider knows, by the same names. */
export const AT_IDP = ['emil', 'dora'] as const

const GROUPS = 3
const GROUP_LENGTH = 4

/** Generated at each start, and easy to type: 60 bits, of unambiguous letters and digits. */
export function drawPasswords(random: Random): Passwords {
  const draw = () => Array.from({ length: GROUPS }, () => drawGroup(random)).join('-')
  return Object.fromEntries(WITH_PASSWORD.map((name) => [name, draw()])) as Passwords
}

function drawGroup(random: Random): string {
  const bytes = [...random.bytes(GROUP_LENGTH)]
  // 32 divides 256, so each letter is equally likely.
  return bytes.map((byte) => BASE32_ALPHABET.charAt(byte % 32).toLowerCase()).join('')
}
