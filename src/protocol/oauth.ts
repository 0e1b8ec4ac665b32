/**
 * Words of OAuth 2.0 that we use as values: error names and grant types.
 * RFC 6749 §4.1.2.1 (authorization), §5.2 (token); OIDC Core §3.1.2.6 for the ones OpenID adds.
 */

export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const
export type GrantType = (typeof GRANT_TYPES)[number]

/** What an OAuth endpoint may answer: D-28, and RFC 6750 §3.1 where a bearer token is shown. */
export const TOKEN_ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_token',
  'insufficient_scope',
  'temporarily_unavailable',
  'server_error',
] as const
export type TokenError = (typeof TOKEN_ERRORS)[number]

/** What travels back over the redirect (D-5). */
export const AUTHORIZATION_ERRORS = [
  'invalid_request',
  'unsupported_response_type',
  'invalid_scope',
  'login_required',
  'request_not_supported',
  'request_uri_not_supported',
] as const
export type AuthorizationError = (typeof AUTHORIZATION_ERRORS)[number]
