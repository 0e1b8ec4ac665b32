/** The paths of the provider's endpoints: SPEC Endpoints, D-3, D-4. Discovery publishes them. */
import type { PrimaryMethod } from '../../domain/identities/primary-methods.ts'
import { PROVIDER_PREFIX } from '../../protocol/oidc.ts'

const LOGIN = `${PROVIDER_PREFIX}/login`

export const PATHS = {
  authorization: `${PROVIDER_PREFIX}/authorization`,
  token: `${PROVIDER_PREFIX}/token`,
  /** RFC 8628, D-440. */
  deviceAuthorization: `${PROVIDER_PREFIX}/device_authorization`,
  keys: `${PROVIDER_PREFIX}/keys`,
  userinfo: `${PROVIDER_PREFIX}/userinfo`,
  endSession: `${PROVIDER_PREFIX}/end_session`,
  revoke: `${PROVIDER_PREFIX}/revoke`,
  introspect: `${PROVIDER_PREFIX}/introspect`,
  loginUsername: `${LOGIN}/username`,
  /** D-4: an alias of the path above. */
  loginPassword: `${LOGIN}/password`,
  loginCert: `${LOGIN}/cert`,
  loginExtJwt: `${LOGIN}/ext-jwt`,
  /** D-47: to an IdP and back. */
  extJwtStart: `${LOGIN}/ext-jwt/start`,
  extJwtCallback: `${LOGIN}/ext-jwt/callback`,
  /** D-344. */
  loginRestart: `${LOGIN}/restart`,
  /** D-345. */
  loginContinue: `${LOGIN}/continue`,
  loginTotp: `${LOGIN}/totp`,
  totpEnroll: `${LOGIN}/totp/enroll`,
  totpEnrollVerify: `${LOGIN}/totp/enroll/verify`,
  /** D-434. */
  loginPasskey: `${LOGIN}/passkey`,
  passkeyOptions: `${LOGIN}/passkey/options`,
  passkeyEnroll: `${LOGIN}/passkey/enroll`,
  passkeyEnrollVerify: `${LOGIN}/passkey/enroll/verify`,
  authQueries: `${LOGIN}/auth-queries`,
} as const

/** Where a login with this method continues: D-6. */
export const METHOD_PATHS: Readonly<Record<PrimaryMethod, string>> = {
  password: PATHS.loginUsername,
  cert: PATHS.loginCert,
  'ext-jwt': PATHS.loginExtJwt,
  passkey: PATHS.loginPasskey,
}

/** D-3: the same document under several paths: clients append the suffix, or insert it as in RFC 8414 §3.1. */
export const DISCOVERY_PATHS = [
  '/.well-known/openid-configuration',
  `${PROVIDER_PREFIX}/.well-known/openid-configuration`,
  `/.well-known/openid-configuration${PROVIDER_PREFIX}`,
  `/.well-known/oauth-authorization-server${PROVIDER_PREFIX}`,
] as const
