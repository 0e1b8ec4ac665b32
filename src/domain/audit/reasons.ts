/**
 * Why a login, a token or an enrollment was refused and why a session ended, with what each reason means (API 4.8).
 * docs/audit.md is written from it (D-273).
 */

export const LOGIN_FAILURES = {
  'identity-disabled': 'The identity is disabled.',
  'identity-missing': 'The identity of the credential is gone.',
  'method-not-allowed': 'The policy of the identity does not allow this way to log in.',
  'token-not-bound':
    'The policy requires tokens that are bound to a key or a certificate; a `zt-session` is not (D-454).',
  // Password.
  'unknown-username': 'No identity has this username.',
  'wrong-password': 'The password is wrong.',
  'password-locked':
    'The password is correct, but the network that it came from is blocked after too many failures (D-22).',
  // Certificate: D-21.
  'no-certificate': 'The connection showed no client certificate.',
  'certificate-untrusted':
    'The certificate does not lead to a CA that is accepted here; `why` has its fingerprint.',
  'certificate-expired': 'The certificate has expired, and the policy does not allow that.',
  'certificate-not-yet-valid': 'The certificate is not valid yet.',
  'certificate-wrong-usage': 'The certificate is not for client authentication.',
  'certificate-is-ca': 'The certificate is that of a CA, which cannot log in.',
  'certificate-of-session': 'The certificate belongs to an API session, which cannot log in.',
  'certificate-unknown': 'The certificate is valid, but belongs to no identity.',
  'ca-disabled': 'The CA of the certificate is not enabled for logins.',
  'ca-unverified': 'The CA of the certificate has not proven that it has its key.',
  // External JWT, as primary factor: D-12.
  'jwt-missing': 'The request has no external JWT.',
  'jwt-expired': 'The external JWT has expired.',
  'jwt-invalid':
    'The signature, issuer, audience, times or claim of the external JWT is wrong; `why` says which.',
  'signer-unknown': 'The issuer of the external JWT is not known here.',
  'signer-disabled': 'The signer of the external JWT is disabled.',
  'signer-not-allowed': 'The policy of the identity does not allow this signer.',
  'identity-unknown': 'The claim of the external JWT names no identity.',
  // On the way through an IdP, as either factor: D-47.
  'idp-refused': 'The identity provider sent the browser back without a token.',
  'idp-unreachable': 'The identity provider could not be reached.',
  // Second factors: D-14, D-18.
  'secondary-jwt-missing': 'The policy also demands an external JWT, and the request has none.',
  'secondary-jwt-expired': 'The external JWT that the policy also demands has expired.',
  'secondary-jwt-invalid':
    'The external JWT that the policy also demands is not valid, or belongs to another identity.',
  'wrong-code': 'The TOTP or recovery code is wrong.',
  'passkey-invalid':
    'The answer of a passkey breaks a rule of WebAuthn; `why` says which, for example `origin` or `challenge`.',
  'passkey-cloned':
    'The signature counter of a passkey did not increase, so the passkey may have been copied. Remove it unless its owner restored it from a backup.',
  'too-many-codes': 'Too many codes were wrong; this login is over.',
} as const
export type LoginFailureReason = keyof typeof LOGIN_FAILURES

export const SESSION_ENDS = {
  'code-reused': 'The code of its login was exchanged twice, so one of the two callers stole it.',
  'refresh-token-reused': 'One of its spent refresh tokens was used again.',
  revoked: 'Its refresh token was revoked.',
  expired: 'It expired.',
  logout: 'Its holder logged out.',
  // D-163: ended by the user, from another session.
  holder: 'Its holder ended it from another session.',
  administrator: 'An administrator ended it.',
  'identity-disabled': 'Its identity was disabled.',
  'identity-deleted': 'Its identity was deleted.',
  'authenticator-removed': 'The credential that it began with was removed.',
  // D-122: what its tokens state about the identity, or what the session began with, has changed.
  'identity-changed': 'Its tokens contain facts about the identity that have changed.',
  'credential-changed': 'Its holder changed the credential in another session.',
  'password-reset': 'An administrator set a new password, or a link for a new one was used.',
  'mfa-reset': 'Its second factors were removed with a link, for a lost phone.',
  'certificate-replaced': 'The certificate that it began with was replaced.',
} as const
export type SessionEndReason = keyof typeof SESSION_ENDS

/** Why a code or a refresh token that was genuine got no tokens (D-133). */
export const TOKEN_REFUSALS = {
  // Both: checked against the current identity and policy.
  'identity-missing': 'The identity is gone.',
  'identity-disabled': 'The identity is disabled.',
  'method-not-allowed': 'The policy no longer allows the method of the login.',
  'signer-disabled':
    'The signer of the login, or of the second JWT that the policy demands, was deleted or disabled.',
  // Whether the certificate of the login is still accepted: D-225, D-227.
  'ca-disabled': 'The CA of the certificate that the login used was deleted or disabled.',
  'certificate-untrusted': 'A CA above the certificate that the login used has expired.',
  'certificate-unknown':
    'The certificate that the login used is not registered, and its CA no longer says which field contains the external id.',
  'certificate-expired':
    'The certificate that the login used has expired since, and the policy does not allow that.',
  'authenticator-removed': 'The credential of the login was removed or replaced.',
  'more-demanded': 'The policy demands more now than the login has proven.',
  'token-not-bound':
    'The policy requires tokens that are bound to a key or a certificate, and those of the session are not (D-454).',
  // For authorization codes: D-7, D-226.
  'login-voided':
    'All sessions of the identity were ended after the login, and before its code was exchanged.',
  'code-expired': 'The code of the login is older than a minute.',
  'code-spent': 'The code of the login was exchanged, or tried, before.',
  'client-mismatch': 'The client id differs from the one of the authorization request.',
  'redirect-uri-mismatch': 'The redirect URI is not the one of the authorization request.',
  'redirect-uri-withdrawn':
    'The login returned to a router that was disabled or deleted, or lost the host, before the code was exchanged (D-488).',
  'verifier-mismatch': 'The PKCE verifier is missing or does not match.',
  'key-mismatch':
    'The request proves another key than the one that the code or the session is bound to, or none (RFC 9449).',
  // Refresh tokens: D-27.
  'refresh-token-expired': 'The refresh token has expired.',
  'refresh-token-spent':
    'The refresh token was spent a moment ago: a double click, or a lost response.',
  'session-ended': 'The session has ended, or reached its absolute end.',
} as const
export type TokenRefusalReason = keyof typeof TOKEN_REFUSALS

/** Why a user could not answer a device (D-441). */
export const DEVICE_REFUSALS = {
  'unknown-user-code':
    'No device waits with the code that the user entered: a typing error, or a guess.',
} as const
export type DeviceRefusalReason = keyof typeof DEVICE_REFUSALS

/** Why an enrollment was refused (D-127). */
export const ENROLLMENT_REFUSALS = {
  'token-unknown':
    'There is no such enrollment token: it was withdrawn, refreshed, or never created.',
  'token-expired': 'The enrollment token has expired.',
  'token-used': 'The enrollment token was used before.',
  'identity-disabled': 'The identity is disabled.',
  // The certificate of the connection, or what its CA is enabled for: API 3.2, D-131.
  'no-certificate': 'The connection showed no client certificate.',
  'certificate-untrusted': 'The certificate does not lead to a CA that is accepted here.',
  'certificate-expired': 'The certificate has expired.',
  'certificate-not-yet-valid': 'The certificate is not valid yet.',
  'certificate-wrong-usage': 'The certificate is not for client authentication.',
  'certificate-is-ca': 'The certificate is that of a CA, which cannot log in.',
  'certificate-of-session': 'The certificate belongs to an API session, which cannot enroll.',
  'ca-disabled': 'The CA of the certificate is not enabled for this way of enrolling.',
  'ca-unverified': 'The CA of the certificate has not proven that it has its key.',
  'external-id-missing': 'The certificate has no external id where its CA looks for one.',
} as const
export type EnrollmentRefusalReason = keyof typeof ENROLLMENT_REFUSALS
