/**
 * Verifies what an authenticator answered: WebAuthn Level 3 §7.1 and §7.2. The checks that say why an answer is refused
 * are here; keys, signatures and CBOR are left to `@simplewebauthn/server`, which checks the rest a second time. It is
 * loaded when the first passkey is used, because it would double the memory of an idle service (D-436).
 */
import { createPublicKey } from 'node:crypto'
import { base64url, sha256 } from '../../../base/encoding.ts'
import { equalInConstantTime } from '../../../base/secrets/vault.ts'
import { keyObjectFault } from '../../certificates/paths/key-strength.ts'
import { ALGORITHMS } from './options.ts'
import type { Passkey } from './passkey.ts'
import type { RelyingParty } from './relying-party.ts'
import type { Assertion, Attestation, ClientData } from './response.ts'

/** Which rule an answer breaks. The event has it; the caller learns only that the answer was refused. */
export type PasskeyRefusal =
  | 'malformed'
  | 'unknown-credential'
  | 'user-handle'
  | 'type'
  | 'challenge'
  | 'origin'
  | 'cross-origin'
  | 'rp-id'
  | 'user-presence'
  | 'user-verification'
  | 'backup-flags'
  | 'algorithm'
  | 'key'
  | 'attestation'
  | 'credential-id'
  | 'signature'
  | 'counter'

export interface VerifiedAssertion {
  readonly signCount: number
  readonly isBackedUp: boolean
}

export type VerifiedCredential = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'signCount' | 'aaguid' | 'isBackupEligible' | 'isBackedUp'
>

export interface Expected {
  readonly rp: RelyingParty
  readonly isUserVerified: boolean
  readonly isOurChallenge: boolean
}

/** §7.2, from step 9 on. The caller has found the passkey and its owner. */
export async function verifyAssertion(
  assertion: Assertion,
  passkey: Passkey,
  expected: Expected,
): Promise<VerifiedAssertion | { readonly refusal: PasskeyRefusal }> {
  const { clientData, authenticatorData, signature } = assertion
  const refusal =
    refuseClientData(clientData, 'webauthn.get', expected) ??
    refuseAuthenticatorData(authenticatorData, expected)
  if (refusal !== undefined) return { refusal }
  const { isBackupEligible, isBackedUp, signCount } = flagsOf(authenticatorData)
  // Step 19: eligibility never changes.
  if (isBackupEligible !== passkey.isBackupEligible) return { refusal: 'backup-flags' }
  const { verifyAuthenticationResponse } = await webauthn()
  const isSigned = await attempt(async () => {
    const { verified } = await verifyAuthenticationResponse({
      ...forLibrary(assertion, expected, {
        authenticatorData: base64url(authenticatorData),
        signature: base64url(signature),
      }),
      // The counter is compared where it is written, in one statement.
      credential: { id: passkey.credentialId, publicKey: bytesOf(passkey.publicKey), counter: 0 },
    })
    return verified
  })
  if (isSigned !== true) return { refusal: 'signature' }
  // Step 22.
  const isBackwards = isCounterBackwards(passkey.signCount, signCount)
  return isBackwards ? { refusal: 'counter' } : { signCount, isBackedUp }
}

/** §7.1, from step 6 on. Whether the credential id is new is decided by the store. */
export async function verifyAttestation(
  attestation: Attestation,
  expected: Expected,
): Promise<VerifiedCredential | { readonly refusal: PasskeyRefusal }> {
  const { clientData, attestationObject, credentialId } = attestation
  const wrong = refuseClientData(clientData, 'webauthn.create', expected)
  if (wrong !== undefined) return { refusal: wrong }
  const { verifyRegistrationResponse } = await webauthn()
  const { decodeAttestationObject, parseAuthenticatorData, decodeCredentialPublicKey, cose } =
    await helpers()
  const decoded = await attempt(async () => {
    const object = decodeAttestationObject(new Uint8Array(attestationObject))
    const authData = new Uint8Array(object.get('authData'))
    const parsed = parseAuthenticatorData(authData)
    const key = parsed.credentialPublicKey && decodeCredentialPublicKey(parsed.credentialPublicKey)
    const isKeyAccepted =
      key === undefined ||
      !cose.isCOSEPublicKeyRSA(key) ||
      isRsaKeyAccepted(key.get(cose.COSEKEYS.n), key.get(cose.COSEKEYS.e))
    return { object, authData, parsed, alg: key?.get(cose.COSEKEYS.alg), isKeyAccepted }
  })
  if (decoded === undefined) return { refusal: 'malformed' }
  const { object, authData, parsed, alg, isKeyAccepted } = decoded
  const refusal = refuseAuthenticatorData(authData, expected)
  if (refusal !== undefined) return { refusal }
  if (alg === undefined || !ALGORITHMS.includes(alg)) return { refusal: 'algorithm' }
  if (!isKeyAccepted) return { refusal: 'key' }
  const { credentialID } = parsed
  if (credentialID === undefined || base64url(credentialID) !== credentialId) {
    return { refusal: 'credential-id' }
  }
  if (!isUnattested(object.get('fmt'), object.get('attStmt'))) return { refusal: 'attestation' }
  const verified = await attempt(() =>
    verifyRegistrationResponse({
      ...forLibrary(attestation, expected, { attestationObject: base64url(attestationObject) }),
      supportedAlgorithmIDs: [...ALGORITHMS],
    }),
  )
  if (verified?.verified !== true) return { refusal: 'signature' }
  const { credential, aaguid } = verified.registrationInfo
  const { isBackupEligible, isBackedUp, signCount } = flagsOf(authData)
  const publicKey = base64url(credential.publicKey)
  return { credentialId, publicKey, signCount, aaguid, isBackupEligible, isBackedUp }
}

/** §7.2 step 22: a counter that does not increase points to a copy of the key. Zero means that there is no counter. */
export function isCounterBackwards(stored: number, shown: number): boolean {
  return (stored > 0 || shown > 0) && shown <= stored
}

function refuseClientData(
  { type, origin, crossOrigin, topOrigin }: ClientData,
  expectedType: string,
  { rp, isOurChallenge }: Expected,
): PasskeyRefusal | undefined {
  if (type !== expectedType) return 'type'
  if (!isOurChallenge) return 'challenge'
  if (typeof origin !== 'string' || !rp.origins.includes(origin)) return 'origin'
  // Our pages are never in a frame of another site.
  if (crossOrigin !== undefined && crossOrigin !== false) return 'cross-origin'
  return topOrigin === undefined ? undefined : 'cross-origin'
}

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const BACKUP_ELIGIBLE = 0x08
const BACKED_UP = 0x10
/** RP ID hash, flags and counter: WebAuthn Level 3 §6.1. */
const SHORTEST_DATA = 37

function refuseAuthenticatorData(
  data: Uint8Array,
  { rp, isUserVerified }: Expected,
): PasskeyRefusal | undefined {
  if (data.length < SHORTEST_DATA) return 'malformed'
  const rpIdHash = base64url(data.subarray(0, 32))
  if (!equalInConstantTime(rpIdHash, base64url(sha256(rp.id)))) return 'rp-id'
  const { flags, isBackupEligible, isBackedUp } = flagsOf(data)
  if ((flags & USER_PRESENT) === 0) return 'user-presence'
  if (isUserVerified && (flags & USER_VERIFIED) === 0) return 'user-verification'
  return isBackedUp && !isBackupEligible ? 'backup-flags' : undefined
}

function flagsOf(data: Uint8Array) {
  const bytes = Buffer.from(data)
  const flags = bytes.readUInt8(32)
  return {
    flags,
    isBackupEligible: (flags & BACKUP_ELIGIBLE) !== 0,
    isBackedUp: (flags & BACKED_UP) !== 0,
    signCount: bytes.readUInt32BE(33),
  }
}

/**
 * We ask for no attestation, and a browser may then only send `none`, or a signature by the new key itself (§5.4.7).
 * Everything else would have the library parse certificates of the caller.
 */
function isUnattested(
  fmt: string,
  statement: { readonly size: number; get(key: 'x5c'): unknown },
): boolean {
  if (fmt === 'none') return statement.size === 0
  return fmt === 'packed' && statement.get('x5c') === undefined
}

/** D-321: at a sign-in we verify with this key before anything else is proven, so verifying must be cheap. */
function isRsaKeyAccepted(n: Uint8Array | undefined, e: Uint8Array | undefined): boolean {
  if (n === undefined || e === undefined) return false
  const jwk = { kty: 'RSA', n: base64url(n), e: base64url(e) }
  return keyObjectFault(createPublicKey({ key: jwk, format: 'jwk' })) === undefined
}

/** The answer and what is expected of it, as the library takes them. `parts` are those of this kind of answer. */
function forLibrary<Parts>(
  { credentialId, clientData }: Pick<Assertion, 'credentialId' | 'clientData'>,
  { rp, isUserVerified }: Expected,
  parts: Parts,
) {
  return {
    response: {
      id: credentialId,
      rawId: credentialId,
      type: 'public-key' as const,
      clientExtensionResults: {},
      response: { clientDataJSON: base64url(clientData.bytes), ...parts },
    },
    expectedChallenge: clientData.challenge,
    expectedOrigin: [...rp.origins],
    expectedRPID: rp.id,
    requireUserVerification: isUserVerified,
  }
}

/** The library throws for every answer that it refuses. */
async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch {
    return undefined
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'base64url'))
}

const webauthn = () => import('@simplewebauthn/server')
const helpers = () => import('@simplewebauthn/server/helpers')
