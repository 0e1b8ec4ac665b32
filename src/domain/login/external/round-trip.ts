/**
 * A login that is away at an IdP. What must come back is sealed into a cookie of the browser that was sent away, with
 * the `state` as the context of the seal: another browser, another state, another login or another signer opens
 * nothing (D-47, D-155). Nothing is stored, so strangers can go away as often as they like (D-7).
 */
import { base64url, fromUtf8, utf8 } from '../../../base/encoding.ts'
import type { ExternalJwtSignerId } from '../../../base/ids.ts'
import type { Random } from '../../../base/secrets/random.ts'
import type { Vault } from '../../../base/secrets/vault.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { AuthRequestKey } from '../request/auth-request.ts'

/** What the JWT of the IdP is to be: who it is, or a second proof beside the one that is kept. */
export type ExternalRole = 'primary' | 'secondary'

export interface RoundTrip {
  /** As the browser knows it. */
  readonly authRequestId: string
  readonly signerId: ExternalJwtSignerId
  /** Of the signer, when the person left. */
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

/** The part before the dot finds the cookie, the rest nobody can guess. */
export function newState(key: AuthRequestKey, random: Random): string {
  return `${key}.${base64url(random.bytes(STATE_BYTES))}`
}

/** The auth request that a state belongs to; undefined when it is none of ours. */
export function keyOfState(state: string): AuthRequestKey | undefined {
  return /^([\w-]{22})\.[\w-]{22}$/.exec(state)?.[1] as AuthRequestKey | undefined
}

export function newProofs(random: Random): Pick<RoundTrip, 'verifier' | 'nonce'> {
  return {
    verifier: base64url(random.bytes(VERIFIER_BYTES)),
    nonce: base64url(random.bytes(NONCE_BYTES)),
  }
}

/** The id stands beside the seal, not inside: it is sealed itself, and need not grow twice. */
export function sealRoundTrip(vault: Vault, trip: RoundTrip, state: string): string {
  const { authRequestId, ...rest } = trip
  return `${authRequestId}.${vault.seal('idp-round-trip', utf8(JSON.stringify(rest)), state)}`
}

/** Undefined for every text that was not sealed for this state. */
export function openRoundTrip(vault: Vault, text: string, state: string): RoundTrip | undefined {
  const [authRequestId = '', sealed = '', ...others] = text.split('.')
  if (others.length > 0) return undefined
  const bytes = vault.open('idp-round-trip', sealed, state)
  const plain = bytes && fromUtf8(bytes)
  if (plain === undefined) return undefined
  return { authRequestId, ...(JSON.parse(plain) as Omit<RoundTrip, 'authRequestId'>) }
}
