/**
 * Which passwords may be set: API 4.2; R073–R075. Length only, in code points after NFKC; no composition rules.
 */
import type { Secret } from '../../../base/secrets/secret.ts'

const LONGEST_PASSWORD = 128

/** Returns why this password is not allowed, or undefined if it is. */
export function refusePassword(password: Secret, minLength: number): string | undefined {
  const length = [...password.reveal().normalize('NFKC')].length
  if (length < minLength) return `must have at least ${minLength} characters`
  if (length > LONGEST_PASSWORD) return `must have at most ${LONGEST_PASSWORD} characters`
  return undefined
}
