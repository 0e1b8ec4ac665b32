/**
 * Requests and responses in the shapes of the models that existing clients were generated from: D-318. Routes are
 * unaware of it; only JSON is changed, on its way in and out.
 */
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { fieldNamed, type ListFields } from '../../domain/lists/list-query.ts'
import { invalid } from '../../domain/refusals.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import { APIS } from '../edge-api/api.ts'
import { ztSessionOf } from '../reading/bearers.ts'
import type { DeclaredRoute } from '../route.ts'
import type { Router } from '../router.ts'
import { modelBody } from './models.ts'
import { type SessionModelPorts, sessionModel } from './session-model.ts'
import { identityModel, mfaModel, policyModel, withTotpQueries } from './shapes.ts'

const M = APIS['edge-management'].prefix
const C = APIS['edge-client'].prefix

type Shape = (
  data: JsonObject,
  ports: SessionModelPorts,
  call: Call,
) => JsonObject | Promise<JsonObject>

const begunSession: Shape = (session, ports) => sessionModel(ports, session)

/** D-310: clients that renew their session read its token back. */
const ownSession: Shape = async (session, ports, call) => {
  const token = session['kind'] === 'legacy' ? ztSessionOf(call)?.reveal() : undefined
  return { ...(await sessionModel(ports, session)), ...(token === undefined ? {} : { token }) }
}

/** What becomes of `data`, or of each of its entries, by method and address. */
const DATA: Readonly<Record<string, Shape>> = {
  'POST /authenticate': begunSession,
  [`POST ${C}/authenticate`]: begunSession,
  [`POST ${M}/authenticate`]: begunSession,
  [`GET ${C}/current-api-session`]: ownSession,
  [`GET ${M}/current-api-session`]: ownSession,
  [`GET ${C}/current-identity`]: identityModel,
  [`GET ${M}/current-identity`]: identityModel,
  [`GET ${C}/current-identity/mfa`]: mfaModel,
  [`GET ${M}/current-identity/mfa`]: mfaModel,
  [`GET ${C}/current-identity/mfa/recovery-codes`]: mfaModel,
  [`GET ${M}/current-identity/mfa/recovery-codes`]: mfaModel,
  [`GET ${M}/identities`]: identityModel,
  [`GET ${M}/identities/:id`]: identityModel,
  [`GET ${M}/auth-policies`]: policyModel,
  [`GET ${M}/auth-policies/:id`]: policyModel,
}

/** Names this run of the service. Older clients read it from every response, and crash without one. */
const INSTANCE_HEADER = 'ziti-instance-id'

export function reshaped(router: Router, instanceId: string, ports: SessionModelPorts): Router {
  return {
    ...router,
    listFields: withAliases,
    add: (route, handler) =>
      router.add(route, async (call) => {
        refuseRoleFilter(route, call.query)
        const sent = bodyIn(route, call as Call)
        const answer = await handler({ ...call, body: sent })
        const shaped = await answerOut(route, answer, ports, call as Call)
        return { ...shaped, headers: { ...shaped.headers, [INSTANCE_HEADER]: instanceId } }
      }),
  }
}

/** Existing clients find what belongs to an identity by `identity = "<id>"`. */
function withAliases(declared: ListFields): ListFields {
  const isOwned = fieldNamed(declared, 'identityId') !== undefined
  return isOwned ? { ...declared, aliases: { identity: 'identityId' } } : declared
}

/** A parameter that would leave identities out is not ignored, because the list would then have all of them. */
function refuseRoleFilter({ method, url }: DeclaredRoute, query: Call['query']): void {
  if (`${method} ${url}` === `GET ${M}/identities` && query.has('roleFilter')) {
    throw invalid('roleFilter', 'is not supported: write anyOf(roleAttributes) = "…" in filter')
  }
}

/** The same for errors, which no handler returns. */
export function reshapedFailure(answer: Answer): Answer {
  const { content } = answer
  if (content?.kind !== 'json' || !isJsonObject(content.value)) return answer
  return { ...answer, content: { kind: 'json', value: withTotpQueries(content.value) } }
}

function bodyIn({ method, url, operation }: DeclaredRoute, { body }: Call): Call['body'] {
  const prefix = [M, C].find((one) => url.startsWith(one))
  if (prefix === undefined || body.kind !== 'json' || !isJsonObject(body.value)) return body
  const declared = operation?.body
  const isPatch = method === 'PATCH' || (declared?.kind === 'deferred' && declared.isPatch === true)
  return { kind: 'json', value: modelBody(url.slice(prefix.length), isPatch, body.value) }
}

async function answerOut(
  { method, url }: DeclaredRoute,
  answer: Answer,
  ports: SessionModelPorts,
  call: Call,
): Promise<Answer> {
  const { content } = answer
  if (content?.kind !== 'json' || !isJsonObject(content.value)) return answer
  const shape = DATA[`${method} ${url}`]
  const { value } = content
  const shaped =
    shape === undefined
      ? value
      : { ...value, data: await each(value['data'], (row) => shape(row, ports, call)) }
  return { ...answer, content: { kind: 'json', value: withTotpQueries(shaped) } }
}

async function each(
  data: unknown,
  shape: (row: JsonObject) => ReturnType<Shape>,
): Promise<unknown> {
  const one = (row: unknown) => (isJsonObject(row) ? shape(row) : row)
  return Array.isArray(data) ? Promise.all(data.map(one)) : one(data)
}
