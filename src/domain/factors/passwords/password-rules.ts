/**
 * Which passwords may be set: API 4.2; R073–R075. Length only, in code points after NFKC; no composition rules.
 */
import type { Secret } from '../../../base/secrets/secret.ts'

const LONGEST_PASSWORD = 128

/** Why a password is not allowed. Pages say it by the rule, in the language of their reader. */
export interface PasswordFault {
  readonly rule: 'tooShort' | 'tooLong' | 'common' | 'ownName'
  /** The sentence without its subject, for the APIs. */
  readonly reason: string
  /** The shortest or longest length that is allowed. */
  readonly limit?: number
}

/** Returns why this password is not allowed, or undefined if it is. */
export function refusePassword(password: Secret, minLength: number): PasswordFault | undefined {
  const length = [...password.reveal().normalize('NFKC')].length
  if (length < minLength) {
    const reason = `must have at least ${minLength} characters`
    return { rule: 'tooShort', reason, limit: minLength }
  }
  if (length > LONGEST_PASSWORD) {
    const reason = `must have at most ${LONGEST_PASSWORD} characters`
    return { rule: 'tooLong', reason, limit: LONGEST_PASSWORD }
  }
  return undefined
}
