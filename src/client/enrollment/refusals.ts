/**
 * Why an enrollment is refused, in sentences for the user: docs/enrollment.md. The server's own words are not repeated;
 * the fault of a password is named if it is a known one.
 */
import { type ClientError, Refused } from '../errors.ts'
import { asObject, codeOf, jsonOf, refusalIn, refusalOf } from '../wire/answers.ts'
import type { WireAnswer } from '../wire/https-wire.ts'
import type { EnrollmentMethod } from './invitation.ts'

const SENTENCES: Readonly<Record<string, string>> = {
  INVALID_ENROLLMENT_TOKEN:
    'the server knows no such enrollment: it was withdrawn, or replaced by a newer one',
  ENROLLMENT_EXPIRED: 'the enrollment has expired; ask for a new one',
  ENROLLMENT_USED:
    'the enrollment was already used, and each works only once; if that was not you, tell your administrator',
  FORBIDDEN: 'the identity is disabled; the enrollment works again when it is enabled',
  MAX_AUTHENTICATOR_METHODS_REACHED: 'the identity has a credential of this kind already',
  CERT_IN_USE: 'the certificate belongs to an identity already',
  CERT_FAILED_VALIDATION:
    'the server does not accept this certificate: it is of another CA, or not valid now',
}

export function enrollmentRefusal(answer: WireAnswer, method: EnrollmentMethod): ClientError {
  const refusal = refusalOf(answer, 'the enrollment')
  if (refusal.constructor !== Refused) return refusal
  const { code } = refusal
  const sentence = SENTENCES[code] ?? sentenceFor(code, answer, method)
  if (sentence === undefined) return refusal
  return new Refused(code, `${sentence} (${code})`, refusalIn(answer))
}

function sentenceFor(
  code: string,
  answer: WireAnswer,
  method: EnrollmentMethod,
): string | undefined {
  if (code === 'ENTITY_NAME_IN_USE') {
    const what = method === 'updb' ? 'username' : 'external id of this certificate'
    return `the ${what} belongs to another identity`
  }
  if (method === 'ott' && isOtherType(code, answer)) {
    return 'the enrollment is not for a router; "latchkey create router" makes one that is'
  }
  if (method !== 'updb') return undefined
  switch (refusedInput(answer)) {
    case 'username':
      return 'this is not the username of the enrollment'
    case 'password':
      return newPasswordFault(answer)
    case undefined:
      return undefined
  }
}

/** D-393. */
function isOtherType(code: string, answer: WireAnswer): boolean {
  return code === 'COULD_NOT_VALIDATE' && causeIn(answer)?.['field'] === 'identityType'
}

/** Faults that the user can correct. */
export function refusedInput(answer: WireAnswer): 'username' | 'password' | undefined {
  const field = codeOf(answer) === 'COULD_NOT_VALIDATE' ? causeIn(answer)?.['field'] : undefined
  return field === 'username' || field === 'password' ? field : undefined
}

/** R073–R075. Any other text could be the password itself, echoed by the server. */
const FAULTS = [
  /^must have at (?:least|most) \d{1,5} characters$/,
  /^is one of the most common passwords$/,
  /^is made from the username, the name or the name of the service$/,
]

/** Returns what is wrong with a new password. */
function newPasswordFault(answer: WireAnswer): string {
  const reason = causeIn(answer)?.['reason']
  const isKnown = typeof reason === 'string' && FAULTS.some((fault) => fault.test(reason))
  return isKnown ? `the new password ${reason}` : 'the server does not accept this password'
}

/** `error.cause` of an API: API 1. */
function causeIn(answer: WireAnswer) {
  return asObject(asObject(jsonOf(answer)?.['error'])?.['cause'])
}
