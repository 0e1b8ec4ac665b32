/**
 * An invitation to enroll: the caller who presents its token gets the identity's first credential. API 3.2, 4.3. Only a
 * hash of the token is stored. Expiry is not a state, it is `expiresAt <= now`. A used enrollment is kept for a while,
 * so that its token can be told apart from one that was never issued.
 */
import { base64url, fromUtf8 } from '../../base/encoding.ts'
import type { CaId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { SecretHash, Vault } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import { ENROLLMENT, type ENROLLMENT_OF_ANY_METHOD } from '../../entities/enrollment.ts'
import type { EntityOf } from '../../entities/field.ts'
import type { Authenticator } from '../identities/authenticator.ts'

export const ENROLLMENT_METHODS = ENROLLMENT.method.choices
export type EnrollmentMethod = (typeof ENROLLMENT_METHODS)[number]

type Common = EntityOf<typeof ENROLLMENT_OF_ANY_METHOD>

/** For a first credential: a certificate of ours, a password, a certificate of a third-party CA. */
type FirstKind =
  | { readonly method: 'ott' }
  | { readonly method: 'updb'; readonly username: string }
  | { readonly method: 'ottca'; readonly caId: CaId }

/** D-375: to replace a forgotten password, or the second factors of a lost phone. Only the page of the link uses it. */
export type ResetKind = { readonly method: 'reset-password' } | { readonly method: 'reset-mfa' }

export type EnrollmentKind = FirstKind | ResetKind
export type FirstMethod = FirstKind['method']

export type Enrollment = Common & EnrollmentKind

export function isReset(enrollment: Enrollment): enrollment is Common & ResetKind {
  return enrollment.method === 'reset-password' || enrollment.method === 'reset-mfa'
}

/** The authenticator that results when an enrollment is used. */
export function authenticatorMethodOf(method: FirstMethod): Authenticator['method'] {
  return method === 'updb' ? 'updb' : 'cert'
}

export function isOpen({ usedAt, expiresAt }: Enrollment, now: Instant): boolean {
  return usedAt === undefined && expiresAt > now
}

/** Returns the JWT that an unused enrollment keeps (D-317); undefined if it keeps none. */
export function keptJwt(
  vault: Pick<Vault, 'open'>,
  { id, sealedJwt }: Enrollment,
): Secret | undefined {
  const opened = sealedJwt === undefined ? undefined : vault.open('enrollment-jwt', sealedJwt, id)
  const text = opened && fromUtf8(opened)
  return text === undefined ? undefined : new Secret(text)
}

/** 256 bits cannot be guessed. The prefix lets secret scanners recognize a leaked token. */
const TOKEN_BYTES = 32
const ENROLLMENT_TOKEN_PREFIX = 'lke_'

export function newEnrollmentToken(random: Random): Secret {
  return new Secret(`${ENROLLMENT_TOKEN_PREFIX}${base64url(random.bytes(TOKEN_BYTES))}`)
}

export function enrollmentTokenHash(vault: Pick<Vault, 'hash'>, token: Secret): SecretHash {
  return vault.hash('enrollment-token', token.reveal())
}
