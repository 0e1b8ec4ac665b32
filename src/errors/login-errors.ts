/** Why a login, a token or a second factor is refused, as far as we tell the caller. Part of the catalogue. */
import type { ErrorEntry } from './entry.ts'

export const LOGIN_ERRORS = {
  // D-12: one wording for every reason; the audit event has the exact one.
  INVALID_AUTH: {
    status: 401,
    oauth: 'invalid_grant',
    next: ['correct-credentials', 'present-certificate'],
    message: 'the credentials are not valid',
    when: 'The login failed. The response is the same whether the username is unknown, the password is wrong or locked, the certificate is not trusted or belongs to no identity, or the identity is disabled or may not log in this way.',
    advice:
      'Try again with the right credentials on the same auth request. The exact reason is in the audit events.',
  },
  INVALID_AUTH_REQUEST: {
    status: 400,
    next: ['sign-in'],
    message: 'this login has ended or never began here; start again at /oidc/authorization',
    when: 'The auth request is unknown, older than ten minutes or already complete, or it was begun in another browser or by a program.',
    advice: 'Begin again at `/oidc/authorization`.',
  },
  INVALID_CLIENT: {
    status: 400,
    oauth: 'invalid_client',
    next: ['fix-configuration'],
    message: 'the client_id is missing or unknown',
    when: "`client_id` is missing, repeated or not the id of this service's client.",
    advice: 'Send the configured client id (`edge.brand`, by default `service`).',
  },
  // RFC 6749 §5.2: the only token error with 401. Our client is public and has no secret (SPEC OIDC client).
  CLIENT_HAS_NO_SECRET: {
    status: 401,
    oauth: 'invalid_client',
    next: ['fix-configuration'],
    message: 'this client is public: send its client_id and no secret',
    when: 'The request has a client secret, in the form or as the password of HTTP Basic. The client is public and has no secret.',
    advice: "Send `client_id` alone, and set the library's client authentication to `none`.",
  },
  INVALID_REDIRECT_URI: {
    status: 400,
    next: ['fix-configuration'],
    message: 'the redirect_uri is missing or not one of the allowed ones',
    when: '`redirect_uri` is missing, repeated or not allowed. The error is returned directly and never sent to a redirect URI.',
    advice:
      "Use an allowed one, written exactly as it is listed, or add it to `redirectURIs` of the listener's `edge-oidc` binding.",
  },
  // D-28: one answer for unknown, spent and expired; the difference would help only a thief.
  INVALID_GRANT: {
    status: 400,
    oauth: 'invalid_grant',
    next: ['sign-in'],
    message:
      'the code is unknown, spent or expired, or was issued for another redirect_uri or code_verifier',
    when: 'The code is unknown, already used or older than 60 seconds, or `client_id`, `redirect_uri` or `code_verifier` is not the one it was issued for. A device code is refused in the same way if it is unknown, was used, or belongs to another client, or if what its user proved no longer counts. The response does not say which.',
    advice:
      'Begin a new login. A code that was refused once stays refused, even with the right verifier; only the request of another client does not spend it.',
  },
  INVALID_REFRESH_TOKEN: {
    status: 400,
    oauth: 'invalid_grant',
    next: ['sign-in'],
    message: 'the refresh token is unknown, spent or expired, or its identity may no longer log in',
    when: 'The refresh token is unknown, already used or expired, its session has ended, or its identity is disabled, deleted, or lacks a factor that its policy now requires. The response does not say which.',
    advice:
      'Begin a new login. After a refresh, always use the new token: presenting a used one again ends the session.',
  },
  INVALID_SCOPE: {
    status: 400,
    oauth: 'invalid_scope',
    next: ['correct-request'],
    message: 'the scope is more than was granted at the authorization, or lacks openid',
    when: 'A refresh asks for a scope that was not granted at the authorization; the token is not spent. Or a device authorization request does not ask for `openid`.',
    advice: 'For a refresh, request less, or omit `scope`. For a device, request `openid`.',
  },
  // RFC 8628 §3.5, D-440.
  AUTHORIZATION_PENDING: {
    status: 400,
    oauth: 'authorization_pending',
    next: ['wait'],
    message: 'the user has not answered yet; ask again after the interval',
    when: 'A device asks for its tokens, and its user has neither approved nor denied the sign-in.',
    advice:
      'Wait for `interval` seconds of the device authorization response, then send the same request.',
  },
  SLOW_DOWN: {
    status: 400,
    oauth: 'slow_down',
    next: ['wait'],
    message: 'the user has not answered yet, and the device asks too often; wait 5 seconds longer',
    when: 'A device asks again before its interval is over. The interval is now 5 seconds longer, for this and all later requests.',
    advice: 'Add 5 seconds to the interval, then wait that long between two requests.',
  },
  ACCESS_DENIED: {
    status: 400,
    oauth: 'access_denied',
    next: ['sign-in'],
    message: 'the user denied the sign-in of this device',
    when: 'A device asks for its tokens, and its user has denied the sign-in.',
    advice: 'Stop asking. Begin again only if the user wants to.',
  },
  EXPIRED_DEVICE_CODE: {
    status: 400,
    oauth: 'expired_token',
    next: ['sign-in'],
    message: 'the device code has expired; begin again at /oidc/device_authorization',
    when: 'A device asks for its tokens more than ten minutes after its device authorization request, or its user approved it and it did not ask in time.',
    advice: 'Begin again with a new device authorization request.',
  },
  INVALID_POST_LOGOUT_URI: {
    status: 400,
    next: ['fix-configuration'],
    message: 'the post_logout_redirect_uri is not one of the allowed ones',
    when: '`post_logout_redirect_uri` is not allowed. No session was ended.',
    advice:
      "Use an allowed one, or add it to `postLogoutURIs` of the listener's `edge-oidc` binding.",
  },
  INVALID_ID_TOKEN_HINT: {
    status: 400,
    next: ['fix-client'],
    message: 'the id_token_hint is not an ID token of this service',
    when: '`id_token_hint` is not an ID token that this service has signed. No session was ended.',
    advice: 'Send the ID token as it was received. An expired one is fine.',
  },
  // RFC 9449 §5. At an API the same fault is a 401 with a challenge.
  INVALID_DPOP_PROOF: {
    status: 400,
    oauth: 'invalid_dpop_proof',
    next: ['fix-client'],
    message: 'the DPoP proof is missing, not valid or was used before',
    when: 'The `DPoP` field of a token request is repeated, too long, for another method or address, too old, signed with an algorithm or a key that is not supported, or was used before; or it is missing, and the session or the policy needs it. Nothing was spent.',
    advice:
      'Create a new proof for every request (RFC 9449). If the session began with a key, refresh it with the same key.',
  },
  // RFC 9449 §8.
  USE_DPOP_NONCE: {
    status: 400,
    oauth: 'use_dpop_nonce',
    next: ['prove-key'],
    message: 'the DPoP proof must have the nonce of the DPoP-Nonce field',
    when: 'The DPoP proof of a token request has no nonce, or one that is more than a minute or two old. Nothing was spent.',
    advice:
      'Create a new proof with the nonce of the `DPoP-Nonce` field of this response, and send the same request again.',
  },
  UNSUPPORTED_GRANT_TYPE: {
    status: 400,
    oauth: 'unsupported_grant_type',
    next: ['fix-client'],
    message: 'the grant_type is not one of those in the discovery document',
    when: '`grant_type` is not one that this service supports.',
    advice: 'Use one of `grant_types_supported` in the discovery document.',
  },
  UNAUTHORIZED: {
    status: 401,
    oauth: 'invalid_token', // RFC 6750 §3.1
    next: [
      'sign-in',
      'refresh',
      'present-jwt',
      'enter-code',
      'enroll-totp',
      'use-passkey',
      'enroll-passkey',
      'present-certificate',
      'prove-key',
      'fix-client',
    ],
    message: 'the request needs a valid token; the WWW-Authenticate header says what is missing',
    when: 'The call or login needs a token that is missing, has expired or is not valid here, or a second factor is outstanding (then `authQueries` says which).',
    advice:
      'Read `WWW-Authenticate`: for `missing`, send a token of that realm; for `expired`, get a new one; for `invalid`, log in again. In the realms for external JWTs, `id` and `issuer` name the signer.',
  },
  // D-38: known, but not allowed. Never 401 for that.
  FORBIDDEN: {
    status: 403,
    oauth: 'insufficient_scope', // RFC 6750 §3.1
    next: ['ask-administrator'],
    message: 'the caller is authenticated, but not allowed to do this',
    when: 'The caller is authenticated and not allowed to do this: the management API needs an administrator, the router endpoints an identity of type `Router`.',
    advice: 'Use another identity.',
  },
  // SPEC Other errors: a wrong code is a 400 and the request stays partially authenticated.
  MFA_INVALID_TOKEN: {
    status: 400,
    next: ['enter-code'],
    message: 'the code is invalid',
    when: 'The TOTP or recovery code is wrong, was used before, or nothing is enrolled. The state of the login does not change.',
    advice:
      'Send the next code of the authenticator app, or an unused recovery code. Ten wrong ones end a login.',
  },
  PASSKEY_INVALID: {
    status: 400,
    next: ['use-passkey'],
    message: 'the answer of the passkey is not valid; get new options and try again',
    when: 'What the authenticator answered does not fit: another challenge, origin or user, or a wrong signature. The event has the rule that it breaks.',
    advice: 'Get new options and ask the authenticator again. Ten wrong answers end a login.',
  },
  PASSKEY_EXISTS: {
    status: 409,
    next: ['none'],
    message: 'this passkey is registered already',
    when: 'The credential id of a new passkey is registered already, by this identity or another.',
    advice: 'Use it to sign in, or create another one.',
  },
  MAX_PASSKEYS_REACHED: {
    status: 409,
    next: ['none'],
    message: 'there are 20 passkeys, which is the most; remove one first',
    when: 'The identity has as many passkeys as it may have.',
    advice: 'Remove one that is no longer used.',
  },
  PASSKEYS_UNAVAILABLE: {
    status: 409,
    next: ['none'],
    message: 'passkeys do not work at this address; use the host name that they were created for',
    when: 'The request was sent to an IP address, for which browsers create no passkeys, or to another host than that of the passkeys.',
    advice: 'Use the host name of the service, or a recovery code.',
  },
  FACTOR_NOT_PROVEN: {
    status: 409,
    next: ['enter-code', 'use-passkey'],
    message: 'prove the second factor that you have before you add another one',
    when: 'The identity has a second factor, and this login has not proven it yet.',
    advice: 'Answer the auth query of the enrolled factor first.',
  },
  LOGIN_TOO_OLD: {
    status: 403,
    oauth: 'invalid_grant',
    next: ['sign-in'],
    message: 'adding a second factor needs a login of the last ten minutes; sign in again',
    when: 'A second factor is to be added by a session or a reused sign-in that is more than ten minutes old, or by a device.',
    advice: 'Log in again, for example with `prompt=login`.',
  },
  MFA_EXISTS: {
    status: 409,
    next: ['none'],
    message: 'a verified TOTP enrollment exists; remove it from a full session first',
    when: 'A verified TOTP enrollment exists, and a login cannot replace or remove it.',
    advice:
      'Log in with its code; remove it from a full session. If the phone is lost, an administrator removes it.',
  },
  MFA_NOT_ENROLLED: {
    status: 409,
    next: ['enroll-totp', 'enroll-passkey'],
    message: 'no second factor of this kind is enrolled',
    when: 'The identity has no verified TOTP enrollment, or no passkey, whichever was asked for.',
    advice: 'Enroll first.',
  },
  MFA_ENROLLMENT_NOT_STARTED: {
    status: 404,
    next: ['enroll-totp'],
    message: 'there is no pending enrollment; start one first',
    when: 'There is no pending TOTP enrollment to verify, read or cancel, or the options for a new passkey were used already.',
    advice: 'Start one.',
  },
  RATE_LIMITED: {
    status: 429,
    oauth: 'temporarily_unavailable',
    next: ['wait'],
    message: 'too many failures; try again after the time in Retry-After',
    when: 'Too many wrong passwords or enrollment tokens from this address within a minute, or too many wrong codes in a row for one identity. Certificates and external JWTs are never refused for it.',
    advice:
      'Wait for `Retry-After` seconds. A known device (D-216) need not wait for the failures of its neighbors.',
  },
} as const satisfies Record<string, ErrorEntry>
