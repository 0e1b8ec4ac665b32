/**
 * The claims of an access token, with their types in the JWT. SPEC Access token; D-24; RFC 9068 §2.2.
 * Only this file knows the `z_` names.
 */
export interface AccessTokenClaims {
  readonly iss: string
  readonly sub: string
  readonly aud: readonly string[]
  readonly exp: number
  readonly iat: number
  readonly jti: string
  readonly client_id: string
  readonly auth_time: number
  readonly amr: readonly string[]
  /** The strongest authentication context class that the login reached (D-460). */
  readonly acr: string
  readonly scope: string
  /** RFC 9068 §2.2.3.1: the role attributes of the identity; absent if they are too long for a token (D-400). */
  readonly roles?: readonly string[]
  /** The version of that list: a role that was removed in a later one does not count at routers. */
  readonly z_rv: number
  /** API session id. */
  readonly z_asid: string
  /** The identity is an administrator. */
  readonly z_ia: boolean
  /** Configuration type ids requested during authentication (D-9). */
  readonly z_ct: readonly string[]
  /** `a` means access token. */
  readonly z_t: typeof ACCESS_TOKEN_TYPE
  /** The API session certificate is extendable (D-26). */
  readonly z_ice: boolean
  /** External id of the identity, if it has one. */
  readonly z_eid?: string
  /** Authentication policy id, so that a call needs no lookup. */
  readonly z_ap: string
  /** Id of the External JWT Signer that vouched for the login, if any: it may be disabled later (D-232). */
  readonly z_ejs?: string
  /** Id of the third-party CA that issued the certificate of the login, if any: it may be disabled later (D-232). */
  readonly z_ca?: string
  /**
   * RFC 8705 §3.1: the certificate of the login, for services that require it together with the token (D-24). RFC 9449
   * §6.1: the key that every sender of the token must prove (D-452).
   */
  readonly cnf?: { readonly 'x5t#S256'?: string; readonly jkt?: string }
}

export const ACCESS_TOKEN_TYPE = 'a'

/** JWT header `typ` of an access token: RFC 9068 §2.1. */
export const ACCESS_TOKEN_TYP = 'at+jwt'
