/**
 * Passwords that somebody would try first: those that everybody uses, and those made of what is known anyway. API 4.2,
 * R074. A reason is given, so that the next one is better.
 */
import type { Secret } from '../../../base/secrets/secret.ts'

/** Why this password may not be set, or undefined when it may. `known`: username, name, brand. */
export async function refuseGuessable(
  password: Secret,
  known: readonly string[],
): Promise<string | undefined> {
  const folded = fold(password.reveal())
  if ((await commonPasswords()).has(folded)) return 'is one of the most common passwords'
  // `anna2026!` is `anna`: what is put around a word makes it no secret.
  const bare = bareWord(folded)
  const isKnown = known.map(fold).some((word) => {
    return word === folded || (bare !== '' && bareWord(word) === bare)
  })
  return isKnown ? 'is made of a name that everybody knows' : undefined
}

let loaded: Promise<ReadonlySet<string>> | undefined

/** Loaded when the first password is set: a start that sets none need not wait for it. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  loaded ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].map(fold)),
  )
  return loaded
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Without the digits and signs around it. */
function bareWord(text: string): string {
  return text.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]+$/u, '')
}
