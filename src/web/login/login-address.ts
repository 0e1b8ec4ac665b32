/** The address of a login page: SPEC Endpoints. */

export type LoginPath =
  | 'username'
  | 'cert'
  | 'ext-jwt'
  | 'totp'
  | 'totp/enroll'
  | 'passkey'
  | 'passkey/enroll'
  | 'continue'
  | 'restart'

export function loginAddress(path: LoginPath, authRequestId: string): string {
  return `/oidc/login/${path}?authRequestID=${encodeURIComponent(authRequestId)}`
}
