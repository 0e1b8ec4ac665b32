/** Authentication queries: what is still to be proven, and where to send it. SPEC Authentication Query; D-14, D-15. */

/** An entry of `authQueries`. */
export type AuthQuery = TotpQuery | PasskeyQuery | ExtJwtQuery

export interface TotpQuery {
  readonly typeId: 'MFA'
  readonly format: 'alphaNumeric'
  readonly httpMethod: 'POST'
  readonly httpUrl: string
  readonly minLength: 6
  readonly maxLength: 6
  readonly provider: string
  /** Whether the user can enter a code, or must enroll first. */
  readonly isTotpEnrolled: boolean
}

/** D-434. */
export interface PasskeyQuery {
  readonly typeId: 'PASSKEY'
  readonly format: 'webauthn'
  readonly httpMethod: 'POST'
  /** Where to send the assertion, or a recovery code. */
  readonly httpUrl: string
  /** Where to get the options for `navigator.credentials.get()`, with a fresh challenge. */
  readonly optionsUrl: string
  readonly provider: string
  /** Whether the user has a passkey, or must enroll one first. */
  readonly isPasskeyEnrolled: boolean
}

export interface ExtJwtQuery {
  readonly typeId: 'EXT-JWT'
  readonly provider: 'url'
  readonly httpMethod: 'GET'
  /** The signer's `externalAuthUrl`; empty if it has none. */
  readonly httpUrl: string
  /** The External JWT Signer that must be satisfied. */
  readonly id: string
  readonly issuer: string
  readonly clientId: string
  readonly scopes: readonly string[]
}

/** Where to send a code: in an OIDC login, and in a legacy session (D-51). */
const TOTP_URLS = { oidc: '/oidc/login/totp', legacy: './authenticate/mfa' } as const

export function totpQuery(
  brand: string,
  where: keyof typeof TOTP_URLS,
  isTotpEnrolled: boolean,
): TotpQuery {
  return {
    typeId: 'MFA',
    format: 'alphaNumeric',
    httpMethod: 'POST',
    httpUrl: TOTP_URLS[where],
    minLength: 6,
    maxLength: 6,
    provider: brand,
    isTotpEnrolled,
  }
}

/** The same for passkeys. */
const PASSKEY_URLS = {
  oidc: '/oidc/login/passkey',
  legacy: './authenticate/passkey',
} as const

export function passkeyQuery(
  brand: string,
  where: keyof typeof PASSKEY_URLS,
  isPasskeyEnrolled: boolean,
): PasskeyQuery {
  return {
    typeId: 'PASSKEY',
    format: 'webauthn',
    httpMethod: 'POST',
    httpUrl: PASSKEY_URLS[where],
    optionsUrl: `${PASSKEY_URLS[where]}/options`,
    provider: brand,
    isPasskeyEnrolled,
  }
}

export function extJwtQuery(signer: {
  readonly id: string
  readonly issuer: string
  readonly externalAuthUrl: string | undefined
  readonly clientId: string | undefined
  readonly scopes: readonly string[]
}): ExtJwtQuery {
  const { id, issuer, externalAuthUrl, clientId, scopes } = signer
  return {
    typeId: 'EXT-JWT',
    provider: 'url',
    httpMethod: 'GET',
    httpUrl: externalAuthUrl ?? '',
    id,
    issuer,
    clientId: clientId ?? '',
    scopes,
  }
}
