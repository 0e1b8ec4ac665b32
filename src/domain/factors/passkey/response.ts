/**
 * What a browser answers, in the JSON forms of WebAuthn Level 3 §5.1: read with bounds, before anything is decoded. The
 * parts that a browser adds for scripts (`clientExtensionResults`, `publicKey` …) are ignored.
 */
import { fromBase64url } from '../../../base/encoding.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../../base/json.ts'

/** An answer to `navigator.credentials.get()`. */
export interface Assertion {
  readonly credentialId: string
  readonly clientData: ClientData
  readonly authenticatorData: Uint8Array
  readonly signature: Uint8Array
  readonly userHandle: string | undefined
}

/** An answer to `navigator.credentials.create()`. */
export interface Attestation {
  readonly credentialId: string
  readonly clientData: ClientData
  readonly attestationObject: Uint8Array
  readonly transports: readonly string[]
}

/** WebAuthn Level 3 §5.8.1. */
export interface ClientData {
  /** As it was signed. */
  readonly bytes: Uint8Array
  readonly type: unknown
  readonly challenge: string
  readonly origin: unknown
  readonly crossOrigin: unknown
  readonly topOrigin: unknown
}

/** WebAuthn Level 3 §7.1: at most 1023 bytes. */
const LONGEST_CREDENTIAL_ID = 1023
const LONGEST_CLIENT_DATA = 4096
const LONGEST_AUTHENTICATOR_DATA = 4096
const LONGEST_SIGNATURE = 1024
const LONGEST_ATTESTATION = 16_384
const LONGEST_USER_HANDLE = 64
const DEEPEST = 4

const TRANSPORTS = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal']

/** Returns undefined for anything else. */
export function readAssertion(given: unknown): Assertion | undefined {
  const read = readCredential(given)
  if (read === undefined) return undefined
  const { credentialId, clientData, response } = read
  const authenticatorData = bytesIn(response, 'authenticatorData', LONGEST_AUTHENTICATOR_DATA)
  const signature = bytesIn(response, 'signature', LONGEST_SIGNATURE)
  const { userHandle = null } = response
  if (userHandle !== null) {
    if (bytesIn(response, 'userHandle', LONGEST_USER_HANDLE) === undefined) return undefined
  }
  if (authenticatorData === undefined || signature === undefined) return undefined
  const handle = typeof userHandle === 'string' ? userHandle : undefined
  return { credentialId, clientData, authenticatorData, signature, userHandle: handle }
}

/** Returns undefined for anything else. */
export function readAttestation(given: unknown): Attestation | undefined {
  const read = readCredential(given)
  if (read === undefined) return undefined
  const { credentialId, clientData, response } = read
  const attestationObject = bytesIn(response, 'attestationObject', LONGEST_ATTESTATION)
  if (attestationObject === undefined) return undefined
  const { transports } = response
  const shown = Array.isArray(transports) ? transports : []
  const known = TRANSPORTS.filter((transport) => shown.includes(transport))
  return { credentialId, clientData, attestationObject, transports: known }
}

function readCredential(given: unknown) {
  if (!isJsonObject(given) || !isJsonObject(given['response'])) return undefined
  const { id, rawId = id, type, response } = given
  if (typeof id !== 'string' || rawId !== id || type !== 'public-key') return undefined
  if (bytesIn(given, 'id', LONGEST_CREDENTIAL_ID) === undefined) return undefined
  const clientData = readClientData(response as JsonObject)
  return clientData && { credentialId: id, clientData, response: response as JsonObject }
}

function readClientData(response: JsonObject): ClientData | undefined {
  const bytes = bytesIn(response, 'clientDataJSON', LONGEST_CLIENT_DATA)
  const value = parseJson(bytes, DEEPEST)?.value
  if (bytes === undefined || !isJsonObject(value)) return undefined
  const { type, challenge, origin, crossOrigin, topOrigin } = value
  if (typeof challenge !== 'string') return undefined
  return { bytes, type, challenge, origin, crossOrigin, topOrigin }
}

function bytesIn(members: JsonObject, name: string, longest: number): Uint8Array | undefined {
  const text = members[name]
  if (typeof text !== 'string' || text === '' || text.length > Math.ceil((longest * 4) / 3)) {
    return undefined
  }
  const bytes = fromBase64url(text)
  return bytes === undefined || bytes.length > longest ? undefined : bytes
}
