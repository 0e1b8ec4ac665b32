/**
 * Words of OAuth 2.0 that we use as values: error names and grant types.
 * RFC 6749 §4.1.2.1 (authorization), §5.2 (token); OIDC Core §3.1.2.6 for the ones OpenID adds.
 */

export const GRANT_TYPES = ['authorization_code'] as const
export type GrantType = (typeof GRANT_TYPES)[number]

/** What a token endpoint may answer (D-28). */
export const TOKEN_ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unsupported_grant_type',
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
