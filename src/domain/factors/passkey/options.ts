/** What a browser is given to create or to use a passkey: WebAuthn Level 3 §5.4, §5.5, in their JSON forms. D-434. */
import { base64url, utf8 } from '../../../base/encoding.ts'
import type { Identity } from '../../identities/identity.ts'
import type { Passkey } from './passkey.ts'
import type { RelyingParty } from './relying-party.ts'

export interface CredentialDescriptor {
  readonly type: 'public-key'
  readonly id: string
  readonly transports?: readonly string[]
}

/** `PublicKeyCredentialRequestOptionsJSON`. */
export interface RequestOptions {
  readonly challenge: string
  readonly rpId: string
  readonly timeout: number
  readonly userVerification: 'required' | 'preferred'
  /** Empty: any passkey of this site that the authenticator can find by itself. */
  readonly allowCredentials: readonly CredentialDescriptor[]
}

/** `PublicKeyCredentialCreationOptionsJSON`. */
export interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id: string; readonly name: string }
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string }
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[]
  readonly timeout: number
  readonly excludeCredentials: readonly CredentialDescriptor[]
  readonly authenticatorSelection: {
    readonly residentKey: 'preferred'
    readonly requireResidentKey: false
    readonly userVerification: 'preferred'
  }
  readonly attestation: 'none'
}

/** COSE: ES256, EdDSA, RS256. Every authenticator has one of them. */
export const ALGORITHMS: readonly number[] = [-7, -8, -257]

/** How long a browser waits for its user: the longest that WebAuthn Level 3 §15.1 recommends. */
const TIMEOUT_MS = 600_000

export function requestOptions(
  { id: rpId }: RelyingParty,
  challenge: string,
  passkeys: readonly Passkey[] | 'any',
): RequestOptions {
  return {
    challenge,
    rpId,
    timeout: TIMEOUT_MS,
    // D-431: alone, a passkey must also verify its user; after a first factor, presence is enough.
    userVerification: passkeys === 'any' ? 'required' : 'preferred',
    allowCredentials: passkeys === 'any' ? [] : descriptors(passkeys, rpId),
  }
}

export function creationOptions(
  { id: rpId, name }: RelyingParty,
  challenge: string,
  identity: Pick<Identity, 'id' | 'name'>,
  passkeys: readonly Passkey[],
): CreationOptions {
  return {
    challenge,
    rp: { id: rpId, name },
    user: { id: userHandleOf(identity), name: identity.name, displayName: identity.name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: TIMEOUT_MS,
    excludeCredentials: descriptors(passkeys, rpId),
    authenticatorSelection: {
      residentKey: 'preferred',
      requireResidentKey: false,
      userVerification: 'preferred',
    },
    attestation: 'none',
  }
}

/** WebAuthn Level 3 §14.6.1: opaque. Our ids are random. */
export function userHandleOf({ id }: Pick<Identity, 'id'>): string {
  return base64url(utf8(id))
}

function descriptors(passkeys: readonly Passkey[], rpId: string): readonly CredentialDescriptor[] {
  return passkeys
    .filter((passkey) => passkey.rpId === rpId)
    .map(({ credentialId, transports }) => ({
      type: 'public-key',
      id: credentialId,
      ...(transports.length === 0 ? {} : { transports }),
    }))
}
