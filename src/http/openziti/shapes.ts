/** Responses in the shapes of the clients' models: D-318. */
import { reference } from '../edge-api/answers.ts'
import { isMembers } from '../edge-api/changed-body.ts'

type Members = Readonly<Record<string, unknown>>

/** `type` is a reference; what concerns services and routers says that there are none. */
export function identityModel(identity: Members): Members {
  const type = String(identity['type'])
  return {
    ...identity,
    type: reference('identity-types', { id: type, name: type }),
    typeId: type,
    hasEdgeRouterConnection: false,
    edgeRouterConnectionStatus: 'offline',
    defaultHostingCost: 0,
    defaultHostingPrecedence: 'default',
    serviceHostingCosts: {},
    serviceHostingPrecedences: {},
  }
}

/** The rules for characters in passwords, none of which is ever demanded. */
export function policyModel(policy: Members): Members {
  const { primary } = policy
  if (!isMembers(primary) || !isMembers(primary['updb'])) return policy
  const demands = { requireMixedCase: false, requireNumberChar: false, requireSpecialChar: false }
  return { ...policy, primary: { ...primary, updb: { ...primary['updb'], ...demands } } }
}

/** The query for a TOTP code has other words, wherever queries are: in a login, a session, a list, an error. */
export function withTotpQueries(value: Members): Members {
  const { authQueries, data } = value
  return {
    ...value,
    ...(Array.isArray(authQueries) ? { authQueries: authQueries.map(totpQuery) } : {}),
    ...(isMembers(data) && Array.isArray(data['authQueries'])
      ? { data: withTotpQueries(data) }
      : {}),
    ...(Array.isArray(data)
      ? { data: data.map((one) => (isMembers(one) ? withTotpQueries(one) : one)) }
      : {}),
  }
}

function totpQuery(query: unknown): unknown {
  if (!isMembers(query) || query['typeId'] !== 'MFA') return query
  return { ...query, typeId: 'TOTP', provider: 'ziti' }
}
