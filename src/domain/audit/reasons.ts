/**
 * Why a login, a token or an enrollment was refused and why a session ended, with what each reason means (API 4.8).
 * docs/audit.md is written from it (D-273).
 */

export const LOGIN_FAILURES = {
  'identity-disabled': 'the identity is disabled',
  'identity-missing': 'the identity of the credential is gone',
  'method-not-allowed': 'the policy does not allow this way to log in',
  // Password.
  'unknown-username': 'no identity has this username',
  'wrong-password': 'the password is wrong',
  'password-locked':
    'the password is correct, but the network that it came from is blocked after too many failures (D-22)',
  // Certificate: D-21.
  'no-certificate': 'the connection showed no client certificate',
  'certificate-untrusted':
    'it does not lead to a CA that is accepted here; `why` has its fingerprint',
  'certificate-expired': 'it has expired, and the policy does not allow that',
  'certificate-not-yet-valid': 'it is not valid yet',
  'certificate-wrong-usage': 'it is not for client authentication',
  'certificate-is-ca': 'it is the certificate of a CA',
  'certificate-of-session': 'it is an API session certificate, which cannot log in',
  'certificate-unknown': 'it is valid, but belongs to no identity',
  'ca-disabled': 'its CA is not enabled for logins',
  'ca-unverified': 'its CA has not proven that it has its key',
  // External JWT, as primary factor: D-12.
  'jwt-missing': 'the request has no external JWT',
  'jwt-expired': 'it has expired',
  'jwt-invalid': 'signature, issuer, audience, times or claim are wrong; `why` says which',
  'signer-unknown': 'its issuer is not known here',
  'signer-disabled': 'its signer is disabled',
  'signer-not-allowed': 'the policy does not allow this signer',
  'identity-unknown': 'its claim names no identity',
  // On the way through an IdP, as either factor: D-47.
  'idp-refused': 'the identity provider of the signer sent the browser back without a token',
  'idp-unreachable': 'the identity provider of the signer could not be reached',
  // Second factors: D-14, D-18.
  'secondary-jwt-missing': 'the policy also demands an external JWT, and the request has none',
  'secondary-jwt-expired': 'it has expired',
  'secondary-jwt-invalid': 'it is not valid, or belongs to another identity',
  'wrong-code': 'the TOTP or recovery code is wrong',
  'too-many-codes': 'the last of too many wrong codes: the login is over',
} as const
export type LoginFailureReason = keyof typeof LOGIN_FAILURES

export const SESSION_ENDS = {
  'code-reused': 'its code was exchanged a second time: it was stolen, then or now',
  'refresh-token-reused': 'one of its spent refresh tokens was used again',
  revoked: 'its refresh token was revoked',
  expired: 'it expired',
  logout: 'its holder logged out',
  // D-163: ended by the user, from another session.
  holder: 'its holder ended it from another session',
  administrator: 'an administrator ended it',
  'identity-disabled': 'its identity was disabled',
  'identity-deleted': 'its identity was deleted',
  'authenticator-removed': 'the credential it began with was removed',
  // D-122: what its tokens state about the identity, or what the session began with, has changed.
  'identity-changed': 'its tokens contain facts about the identity that have changed',
  'credential-changed': 'its holder changed the credential in another session',
  'password-reset': 'an administrator set a new password, or a link for a new one was used',
  'mfa-reset': 'its second factors were removed with a link, for a lost phone',
  'certificate-replaced': 'the certificate it began with was replaced',
} as const
export type SessionEndReason = keyof typeof SESSION_ENDS

/** Why a code or a refresh token that was genuine got no tokens (D-133). */
export const TOKEN_REFUSALS = {
  // Both: checked against the current identity and policy.
  'identity-missing': 'the identity is gone',
  'identity-disabled': 'the identity is disabled',
  'method-not-allowed': 'the policy no longer allows the method of the login',
  'signer-disabled':
    'the signer of the login, or of the second JWT that the policy demands, was deleted or disabled',
  // Whether the certificate of the login is still accepted: D-225, D-227.
  'ca-disabled': 'the CA of the certificate that the login used was deleted or disabled',
  'certificate-untrusted': 'a CA above that certificate has expired',
  'certificate-unknown':
    'that certificate is not registered, and its CA no longer says which field contains the external id',
  'certificate-expired': 'that certificate has expired, and the policy does not allow expired ones',
  'authenticator-removed': 'the credential of the login was removed or replaced',
  'more-demanded': 'the policy now demands more than the login proved',
  // For authorization codes: D-7, D-226.
  'login-voided':
    'all sessions of the identity were ended after the login and before its code was exchanged',
  'code-expired': 'the code is older than a minute',
  'code-spent': 'the code was exchanged, or tried, before',
  'client-mismatch': 'the client is not the one of the authorization request',
  'redirect-uri-mismatch': 'the redirect URI is not the one of the authorization request',
  'verifier-mismatch': 'the PKCE verifier is missing or does not match',
  // Refresh tokens: D-27.
  'refresh-token-expired': 'the refresh token has expired',
  'refresh-token-spent': 'it was spent a moment ago: a double click, or a lost response',
  'session-ended': 'the session has ended, or reached its absolute end',
} as const
export type TokenRefusalReason = keyof typeof TOKEN_REFUSALS

/** Why an enrollment was refused (D-127). */
export const ENROLLMENT_REFUSALS = {
  'token-unknown': 'there is no such token',
  'token-expired': 'the token has expired',
  'token-used': 'the token was used before',
  'identity-disabled': 'the identity is disabled',
  // The certificate of the connection, or what its CA is enabled for: API 3.2, D-131.
  'no-certificate': 'the connection showed no client certificate',
  'certificate-untrusted': 'it does not lead to a CA that is accepted here',
  'certificate-expired': 'it has expired',
  'certificate-not-yet-valid': 'it is not valid yet',
  'certificate-wrong-usage': 'it is not for client authentication',
  'certificate-is-ca': 'it is the certificate of a CA',
  'certificate-of-session': 'it is an API session certificate',
  'ca-disabled': 'its CA is not enabled for this',
  'ca-unverified': 'its CA has not proven that it has its key',
  'external-id-missing': 'the certificate has no external id where its CA looks for one',
} as const
export type EnrollmentRefusalReason = keyof typeof ENROLLMENT_REFUSALS
