/** The discovery document: SPEC Discovery, D-3; OIDC Discovery §3, RFC 8414 §2. It lists only what works. */
import type { TokenPorts } from '../../domain/tokens/ports.ts'
import { DPOP_ALGORITHMS } from '../../protocol/dpop/public-jwk.ts'
import { ACR_VALUES } from '../../protocol/factors/acr.ts'
import { GRANT_TYPES } from '../../protocol/oauth.ts'
import { RESPONSE_MODES, SCOPES } from '../../protocol/oidc.ts'
import { json } from '../answer.ts'
import { issuerAt } from '../issuers.ts'
import type { ListenerParts } from '../listener-parts.ts'
import type { Router } from '../router.ts'
import { DISCOVERY_PATHS, PATHS } from './paths.ts'

const CLAIMS = [
  'iss',
  'sub',
  'aud',
  'azp',
  'exp',
  'iat',
  'auth_time',
  'nonce',
  'amr',
  'acr',
  'at_hash',
  'sid',
  'name',
  'preferred_username',
  'external_id',
  'is_admin',
]

/** What the compatibility layer names in another way (D-314). */
export interface Endpoints {
  readonly authorization: string
  readonly token: string
  readonly otherGrants?: readonly string[]
}

type DiscoveryPorts = Pick<TokenPorts, 'brand' | 'signingKeys'>

export function addDiscovery(
  router: Router,
  ports: DiscoveryPorts,
  { addresses }: Pick<ListenerParts, 'addresses'>,
  endpoints: Endpoints = PATHS,
): void {
  for (const url of DISCOVERY_PATHS) {
    router.add(
      {
        method: 'GET',
        url,
        access: 'public',
        face: { json: 'oauth', pages: false },
        cors: 'open',
        replies: [200],
      },
      (call) => {
        const base = addresses().baseUrlOf(call)
        return json(200, discoveryDocument(base, ports, endpoints), {
          'cache-control': 'public, max-age=300',
        })
      },
    )
  }
}

function discoveryDocument(
  base: string,
  { brand, signingKeys }: DiscoveryPorts,
  endpoints: Endpoints,
): object {
  return {
    issuer: issuerAt(base),
    authorization_endpoint: `${base}${endpoints.authorization}`,
    token_endpoint: `${base}${endpoints.token}`,
    device_authorization_endpoint: `${base}${PATHS.deviceAuthorization}`,
    userinfo_endpoint: `${base}${PATHS.userinfo}`,
    end_session_endpoint: `${base}${PATHS.endSession}`,
    revocation_endpoint: `${base}${PATHS.revoke}`,
    introspection_endpoint: `${base}${PATHS.introspect}`,
    jwks_uri: `${base}${PATHS.keys}`,
    response_types_supported: ['code'],
    response_modes_supported: RESPONSE_MODES,
    grant_types_supported: [...GRANT_TYPES, ...(endpoints.otherGrants ?? [])],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: signingKeys.algorithms('id'),
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    // RFC 8414 §2: the caller sends the bearer token of an administrator or router, not client credentials (D-31).
    introspection_endpoint_auth_methods_supported: ['Bearer'],
    code_challenge_methods_supported: ['S256'],
    // RFC 9449 §5.1.
    dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    scopes_supported: SCOPES,
    claims_supported: CLAIMS,
    acr_values_supported: ACR_VALUES,
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    [`${brand}_endpoints`]: {
      password: `${base}${PATHS.loginUsername}`,
      cert: `${base}${PATHS.loginCert}`,
      ext_jwt: `${base}${PATHS.loginExtJwt}`,
      totp: `${base}${PATHS.loginTotp}`,
      totp_enroll: `${base}${PATHS.totpEnroll}`,
      totp_enroll_verify: `${base}${PATHS.totpEnrollVerify}`,
      auth_queries: `${base}${PATHS.authQueries}`,
    },
  }
}
