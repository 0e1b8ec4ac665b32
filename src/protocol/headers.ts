/** Names of our own header fields, in lower case, as Node reads and writes them. */

/** Carries the auth request id on the authorization redirect and on login responses (D-4). */
export const AUTH_REQUEST_ID_HEADER = 'auth-request-id'

/** RFC 9449 §4.1: the proof that the sender has the key of its token. */
export const DPOP_HEADER = 'dpop'

/** RFC 9449 §8: the nonce for the next proof. */
export const DPOP_NONCE_HEADER = 'dpop-nonce'

/** SPEC Response headers: whole seconds until the session ends (D-39). */
export const EXPIRATION_SECONDS_HEADER = 'expiration-seconds'

/** SPEC Response headers: the same time as a datetime (D-39). */
export const EXPIRES_AT_HEADER = 'expires-at'

/** The id of what a call has ended, for those who ask who has confirmed it (D-382). */
export const ENDING_HEADER = 'latchkey-ending'

/** On every response, and the same id in the error body and the log (D-39). */
export const REQUEST_ID_HEADER = 'x-request-id'

/** SPEC Response headers: a login needs a TOTP code. */
export const TOTP_REQUIRED_HEADER = 'totp-required'

/** API 3.1: a code that removes an enrollment or renews its recovery codes. */
export const MFA_VALIDATION_CODE_HEADER = 'mfa-validation-code'

/** SPEC Authentication 1: the legacy session token. */
export const ZT_SESSION_HEADER = 'zt-session'
