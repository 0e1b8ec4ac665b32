/**
 * A login whose user is at an IdP. What must come back is sealed into a cookie of the browser that was sent away, with
 * the `state` as the context of the seal. It does not open for another browser, state, login or signer (D-47, D-155).
 * Nothing is stored, so anonymous callers can start any number of round trips (D-7).
 */
import { base64url, fromUtf8, utf8 } from '../../../base/encoding.ts'
import type { ExternalJwtSignerId } from '../../../base/ids.ts'
import type { Random } from '../../../base/secrets/random.ts'
import type { Vault } from '../../../base/secrets/vault.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { AuthRequestKey } from '../request/auth-request.ts'

/** The role of the IdP's JWT: the primary factor, or a second proof in addition to the kept one. */
export type ExternalRole = 'primary' | 'secondary'

export interface RoundTrip {
  /** As the browser knows it. */
  readonly authRequestId: string
  readonly signerId: ExternalJwtSignerId
  /** The issuer of the signer when the user left. */
  readonly issuer: string
  readonly role: ExternalRole
  readonly redirectUri: string
  readonly verifier: string
  readonly nonce: string
  /** When the user was sent to the IdP; `max_age` is counted from then (D-241). */
  readonly sentAt: Instant
}

/** 128 bits each; the verifier has 256 (RFC 7636 §7.1). */
const STATE_BYTES = 16
const NONCE_BYTES = 16
const VERIFIER_BYTES = 32

/** The part before the dot finds the cookie; the rest is unguessable. */
export function newState(key: AuthRequestKey, random: Random): string {
  return `${key}.${base64url(random.bytes(STATE_BYTES))}`
}

/** Returns the auth request that a state belongs to, or undefined if the state is not one of ours. */
export function keyOfState(state: string): AuthRequestKey | undefined {
  return /^([\w-]{22})\.[\w-]{22}$/.exec(state)?.[1] as AuthRequestKey | undefined
}

export function newProofs(random: Random): Pick<RoundTrip, 'verifier' | 'nonce'> {
  return {
    verifier: base64url(random.bytes(VERIFIER_BYTES)),
    nonce: base64url(random.bytes(NONCE_BYTES)),
  }
}

/** The id is outside the seal: it is sealed already, and sealing it again would only make it longer. */
export function sealRoundTrip(vault: Vault, trip: RoundTrip, state: string): string {
  const { authRequestId, ...rest } = trip
  return `${authRequestId}.${vault.seal('idp-round-trip', utf8(JSON.stringify(rest)), state)}`
}

/** Returns undefined if the text was not sealed for this state. */
export function openRoundTrip(vault: Vault, text: string, state: string): RoundTrip | undefined {
  const [authRequestId = '', sealed = '', ...others] = text.split('.')
  if (others.length > 0) return undefined
  const bytes = vault.open('idp-round-trip', sealed, state)
  const plain = bytes && fromUtf8(bytes)
  if (plain === undefined) return undefined
  return { authRequestId, ...(JSON.parse(plain) as Omit<RoundTrip, 'authRequestId'>) }
}
