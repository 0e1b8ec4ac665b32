/**
 * Values of OAuth 2.0: error names and grant types.
 * RFC 6749 §4.1.2.1 (authorization), §5.2 (token); OIDC Core §3.1.2.6 for those that OpenID adds.
 */

/** RFC 8628 §3.4. */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

export const GRANT_TYPES = ['authorization_code', 'refresh_token', DEVICE_CODE_GRANT] as const
export type GrantType = (typeof GRANT_TYPES)[number]

/** The errors of OAuth endpoints: D-28, RFC 6750 §3.1 for bearer tokens, and RFC 9449 §5 and §8 for DPoP. */
export type TokenError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_token'
  // RFC 8628 §3.5.
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'insufficient_scope'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'temporarily_unavailable'
  | 'server_error'

/** The errors that go back over the redirect (D-5), and when; docs/errors.md is generated from it. */
export const AUTHORIZATION_ERRORS = {
  invalid_request:
    'A parameter is missing, repeated or malformed: the PKCE challenge is absent or not 43 base64url characters, its method is not `S256`, `method` or `response_mode` is unknown, or everything together is too long.',
  unsupported_response_type: '`response_type` is not `code`.',
  invalid_scope: '`scope` does not contain `openid`.',
  login_required: '`prompt=none` asks for a response without a login, which is never given.',
  request_not_supported: 'The parameter `request` was sent.',
  request_uri_not_supported: 'The parameter `request_uri` was sent.',
} as const
export type AuthorizationError = keyof typeof AUTHORIZATION_ERRORS
