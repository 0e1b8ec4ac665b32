/** Proof Key for Code Exchange with the one supported method, S256: RFC 7636 §4. */
import { base64url, sha256 } from '../base/encoding.ts'
import { equalInConstantTime } from '../base/secrets/vault.ts'

/** RFC 7636 §4.2 with S256: base64url of 32 bytes without padding, 43 characters (R003). */
export function isCodeChallenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text)
}

/** RFC 7636 §4.1: 43 to 128 unreserved characters. */
export function isCodeVerifier(text: string): boolean {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(text)
}

/** RFC 7636 §4.6. A text that is not a valid verifier matches nothing, whatever its hash (R032). */
export function verifierMatches(verifier: string, challenge: string): boolean {
  return isCodeVerifier(verifier) && equalInConstantTime(base64url(sha256(verifier)), challenge)
}
