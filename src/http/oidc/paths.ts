/** Where the provider's endpoints are: SPEC Endpoints, D-3, D-4. Discovery says the same to the world. */
import { PROVIDER_PREFIX } from '../../protocol/oidc.ts'

export const PATHS = {
  authorization: `${PROVIDER_PREFIX}/authorization`,
  token: `${PROVIDER_PREFIX}/token`,
  keys: `${PROVIDER_PREFIX}/keys`,
  loginUsername: `${PROVIDER_PREFIX}/login/username`,
  /** D-4: another name of the one above. */
  loginPassword: `${PROVIDER_PREFIX}/login/password`,
} as const

/** D-3: the same document, for clients that add the prefix and for those of RFC 8414 §3.1. */
export const DISCOVERY_PATHS = [
  '/.well-known/openid-configuration',
  `${PROVIDER_PREFIX}/.well-known/openid-configuration`,
  `/.well-known/openid-configuration${PROVIDER_PREFIX}`,
  `/.well-known/oauth-authorization-server${PROVIDER_PREFIX}`,
] as const
