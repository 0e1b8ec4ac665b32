/** Who there is in the demo: one for each way of logging in, called after it. */
import { BASE32_ALPHABET } from '../base/base32.ts'
import type { Random } from '../base/secrets/random.ts'

/** Those with a password; the first administrator among them. */
export const WITH_PASSWORD = ['admin', 'paula', 'tina', 'tom', 'dora'] as const
export type WithPassword = (typeof WITH_PASSWORD)[number]
export type Passwords = Readonly<Record<WithPassword, string>>

/** Those whom the identity provider of the demo knows, under the same names. */
export const AT_IDP = ['emil', 'dora'] as const

const GROUPS = 3
const GROUP_LENGTH = 4

/** Made anew at each start, and easy to type: 60 bits, of letters and digits that are not mistaken for each other. */
export function drawPasswords(random: Random): Passwords {
  const draw = () => Array.from({ length: GROUPS }, () => drawGroup(random)).join('-')
  return Object.fromEntries(WITH_PASSWORD.map((name) => [name, draw()])) as Passwords
}

function drawGroup(random: Random): string {
  const bytes = [...random.bytes(GROUP_LENGTH)]
  // 32 divides 256: each letter is as likely as any other.
  return bytes.map((byte) => BASE32_ALPHABET.charAt(byte % 32).toLowerCase()).join('')
}
