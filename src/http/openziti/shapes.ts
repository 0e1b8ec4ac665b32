/** Responses in the shapes of the clients' models: D-318. */
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { reference } from '../edge-api/answers.ts'
import { PATHS } from '../oidc/paths.ts'

/**
 * `type` is a reference; what concerns services and routers says that there are none. What the last login reported is
 * always an object, because programs read its members without a check.
 */
export function identityModel(identity: JsonObject): JsonObject {
  const type = String(identity['type'])
  return {
    ...identity,
    type: reference('identity-types', { id: type, name: type }),
    typeId: type,
    isDefaultAdmin: false,
    envInfo: identity['envInfo'] ?? {},
    sdkInfo: identity['sdkInfo'] ?? {},
    hasEdgeRouterConnection: false,
    edgeRouterConnectionStatus: 'offline',
    defaultHostingCost: 0,
    defaultHostingPrecedence: 'default',
    serviceHostingCosts: {},
    serviceHostingPrecedences: {},
  }
}

/** The rules for characters in passwords, none of which is ever demanded. */
export function policyModel(policy: JsonObject): JsonObject {
  const { primary } = policy
  if (!isJsonObject(primary) || !isJsonObject(primary['updb'])) return policy
  const demands = { requireMixedCase: false, requireNumberChar: false, requireSpecialChar: false }
  return { ...policy, primary: { ...primary, updb: { ...primary['updb'], ...demands } } }
}

/**
 * D-474: a list, even though the codes are shown only in the response that creates them. Tunnelers walk it without a
 * check, and crash if there is none.
 */
export function mfaModel(enrollment: JsonObject): JsonObject {
  return { ...enrollment, recoveryCodes: [] }
}

/** The query for a TOTP code has other words, wherever queries are: in a login, a session, a list, an error. */
export function withTotpQueries(value: JsonObject): JsonObject {
  const { authQueries, data } = value
  return {
    ...value,
    ...(Array.isArray(authQueries) ? { authQueries: authQueries.map(totpQuery) } : {}),
    ...(isJsonObject(data) && Array.isArray(data['authQueries'])
      ? { data: withTotpQueries(data) }
      : {}),
    ...(Array.isArray(data)
      ? { data: data.map((one) => (isJsonObject(one) ? withTotpQueries(one) : one)) }
      : {}),
  }
}

/** The type in an OIDC login. In a session it stays `MFA`: SDKs without OIDC compare it with that. */
function totpQuery(query: unknown): unknown {
  if (!isJsonObject(query) || query['typeId'] !== 'MFA') return query
  const isOfLogin = query['httpUrl'] === PATHS.loginTotp
  return { ...query, typeId: isOfLogin ? 'TOTP' : 'MFA', provider: 'ziti' }
}
