/**
 * Passwords that an attacker would try first: common ones, and ones made of the user's own names or the brand. API 4.2,
 * R074. The error gives the reason, so that the user can choose a better one.
 */
import type { Secret } from '../../../base/secrets/secret.ts'
import type { PasswordFault } from './password-rules.ts'

/** Returns why this password is not allowed, or undefined if it is. `known`: username, name, brand. */
export async function refuseGuessable(
  password: Secret,
  known: readonly string[],
): Promise<PasswordFault | undefined> {
  const folded = fold(password.reveal())
  if ((await commonPasswords()).has(folded)) {
    return { rule: 'common', reason: 'is one of the most common passwords' }
  }
  // Treat `anna2026!` as `anna`: digits and punctuation around a word do not make it a secret.
  const bare = bareWord(folded)
  const isKnown = known.map(fold).some((word) => {
    return word === folded || (bare !== '' && bareWord(word) === bare)
  })
  if (!isKnown) return undefined
  const reason = 'is made from the username, the name or the name of the service'
  return { rule: 'ownName', reason }
}

let loaded: Promise<ReadonlySet<string>> | undefined

/** Loaded when the first password is set, so that it does not slow down the start. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  loaded ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].map(fold)),
  )
  return loaded
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Removes the digits and punctuation around the word. */
function bareWord(text: string): string {
  return text.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]+$/u, '')
}
