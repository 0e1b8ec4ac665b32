/**
 * The identifiers of the product, with one type each, so that one cannot be passed in place of another.
 */
import type { Brand } from './brand.ts'
import type { Random } from './secrets/random.ts'

export type IdentityId = Brand<string, 'IdentityId'>
export type AuthenticatorId = Brand<string, 'AuthenticatorId'>
export type AuthPolicyId = Brand<string, 'AuthPolicyId'>
export type ApiSessionId = Brand<string, 'ApiSessionId'>
export type ExternalJwtSignerId = Brand<string, 'ExternalJwtSignerId'>
export type CaId = Brand<string, 'CaId'>
export type EnrollmentId = Brand<string, 'EnrollmentId'>
/** `jti` of an access token. */
export type TokenId = Brand<string, 'TokenId'>
export type TotpEnrollmentId = Brand<string, 'TotpEnrollmentId'>
export type SessionCertificateId = Brand<string, 'SessionCertificateId'>
export type EventId = Brand<string, 'EventId'>
export type RequestId = Brand<string, 'RequestId'>

/** 96 bits: short enough to read out, long enough never to collide. Not a secret. */
const ID_BYTES = 12
const ID_LENGTH = 19

/** Returns a new identifier: random, never derived from what it names (API 1). Lower-case letters and digits. */
export function newId<Id extends Brand<string, string>>(random: Random): Id {
  const number = BigInt(`0x${Buffer.from(random.bytes(ID_BYTES)).toString('hex')}`)
  // No leading dash, which a command line would parse as an option, and no upper case to get wrong.
  return number.toString(36).padStart(ID_LENGTH, '0') as string as Id
}
