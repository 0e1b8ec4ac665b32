/** How a login was proven, in words: the values of `amr` (RFC 8176) are for programs. */
import { AMR_WORDS, RECOVERY_CODE, USER_PRESENT } from '../../protocol/factors/amr.ts'
import { SECOND_FACTORS } from '../../protocol/factors/second-factors.ts'

const NAMES: Readonly<Record<string, string>> = {
  [AMR_WORDS.password]: 'Password',
  [AMR_WORDS.cert]: 'Certificate',
  [AMR_WORDS['ext-jwt']]: 'External account',
  [SECOND_FACTORS.totp.amr]: 'authenticator app',
  [SECOND_FACTORS.passkey.amr]: 'passkey',
  [RECOVERY_CODE]: 'recovery code',
}

export function proofName(amr: readonly string[]): string {
  // `mfa` says only that there were several, and `user` that the user was there, which the others already imply.
  const [first = 'unknown', ...others] = amr
    .filter((word) => word !== 'mfa' && word !== USER_PRESENT)
    .map((word) => NAMES[word] ?? word)
  return [`${first.charAt(0).toUpperCase()}${first.slice(1)}`, ...others].join(' + ')
}
