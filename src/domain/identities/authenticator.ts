/**
 * A credential of an identity: a username with its password, or a certificate. API 4.2. An identity has at most one of
 * each method.
 */
import type { Instant } from '../../base/time/instant.ts'
import type { CERT_AUTHENTICATOR, UPDB_AUTHENTICATOR } from '../../entities/authenticator.ts'
import type { EntityOf } from '../../entities/field.ts'
import { LONGEST_NAME } from '../../protocol/limits.ts'
import { invalid } from '../refusals.ts'
import type { Identity } from './identity.ts'

/** The password exists only as an argon2id hash with its parameters. */
export type UpdbAuthenticator = EntityOf<typeof UPDB_AUTHENTICATOR>

export interface CertAuthenticator extends EntityOf<typeof CERT_AUTHENTICATOR> {
  /** The pending replacement, which is accepted as well in the meantime (D-130). */
  readonly renewal?: PendingRenewal | undefined
}

/** A certificate that an identity can log in with, and whether our own PKI issued it. */
export type RegisteredCertificate = Pick<
  EntityOf<typeof CERT_AUTHENTICATOR>,
  'certPem' | 'fingerprint' | 'isIssuedByNetwork'
>
export type PendingRenewal = Omit<RegisteredCertificate, 'isIssuedByNetwork'>

export type Authenticator = UpdbAuthenticator | CertAuthenticator

/** A new authenticator: never used and never changed. */
export type FreshAuthenticator = Omit<UpdbAuthenticator, Grown> | Omit<CertAuthenticator, Grown>
type Grown = 'credentialVersion' | 'lastUsedAt'

/** When its lock ends; undefined if it is not locked at this moment. */
export function lockEnd(authenticator: Authenticator, now: Instant): Instant | undefined {
  if (authenticator.method !== 'updb') return undefined
  const { lockedUntil } = authenticator
  return lockedUntil !== undefined && lockedUntil > now ? lockedUntil : undefined
}

/**
 * The canonical form for comparing usernames (API 4.2: NFKC and case folding). Converting to upper case first folds
 * what a single step misses, such as ß and the Greek final sigma. It starts with lower case because the capital ẞ does
 * not become two letters in upper case.
 */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
}

/** Folding can make a text many times longer, so its length is checked afterwards. Throws COULD_NOT_VALIDATE. */
export function refuseLongUsername(username: string): void {
  if (usernameKey(username).length <= LONGEST_NAME) return
  throw invalid('username', `must have at most ${LONGEST_NAME} characters`)
}

/** An authenticator as shown to callers, with its identity. */
export interface AuthenticatorDetail {
  readonly authenticator: Authenticator
  readonly identity: Pick<Identity, 'id' | 'name'>
}
