/**
 * Requests and responses in the shapes of the models that existing clients were generated from: D-318. Routes are
 * unaware of it; only JSON is changed, on its way in and out.
 */
import { fieldNamed, type ListFields } from '../../domain/lists/list-query.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import { APIS } from '../edge-api/api.ts'
import { isMembers } from '../edge-api/changed-body.ts'
import type { Route } from '../route.ts'
import type { Router } from '../router.ts'
import { modelBody } from './models.ts'
import { identityModel, policyModel, withTotpQueries } from './shapes.ts'

const M = APIS['edge-management'].prefix
const C = APIS['edge-client'].prefix

/** What becomes of `data`, or of each of its entries, by method and address. */
const DATA: Readonly<Record<string, (data: Members) => Members>> = {
  [`GET ${C}/current-identity`]: identityModel,
  [`GET ${M}/current-identity`]: identityModel,
  [`GET ${M}/identities`]: identityModel,
  [`GET ${M}/identities/:id`]: identityModel,
  [`GET ${M}/auth-policies`]: policyModel,
  [`GET ${M}/auth-policies/:id`]: policyModel,
}

type Members = Readonly<Record<string, unknown>>

/** Names this run of the service. Older clients read it from every response, and crash without one. */
const INSTANCE_HEADER = 'ziti-instance-id'

export function reshaped(router: Router, instanceId: string): Router {
  return {
    ...router,
    listFields: withAliases,
    add: (route, handler) =>
      router.add(route, async (call) => {
        const sent = bodyIn(route, call as Call)
        const answer = await handler({ ...call, body: sent })
        const shaped = answerOut(route, answer)
        return { ...shaped, headers: { ...shaped.headers, [INSTANCE_HEADER]: instanceId } }
      }),
  }
}

/** Existing clients find what belongs to an identity by `identity = "<id>"`. */
function withAliases(declared: ListFields): ListFields {
  const isOwned = fieldNamed(declared, 'identityId') !== undefined
  return isOwned ? { ...declared, aliases: { identity: 'identityId' } } : declared
}

/** The same for errors, which no handler returns. */
export function reshapedFailure(answer: Answer): Answer {
  const { content } = answer
  if (content?.kind !== 'json' || !isMembers(content.value)) return answer
  return { ...answer, content: { kind: 'json', value: withTotpQueries(content.value) } }
}

function bodyIn({ method, url, operation }: Route, { body }: Call): Call['body'] {
  const prefix = [M, C].find((one) => url.startsWith(one))
  if (prefix === undefined || body.kind !== 'json' || !isMembers(body.value)) return body
  const declared = operation?.body
  const isPatch = method === 'PATCH' || (declared?.kind === 'deferred' && declared.isPatch === true)
  return { kind: 'json', value: modelBody(url.slice(prefix.length), isPatch, body.value) }
}

function answerOut({ method, url }: Route, answer: Answer): Answer {
  const { content } = answer
  if (content?.kind !== 'json' || !isMembers(content.value)) return answer
  const shape = DATA[`${method} ${url}`]
  const { data } = content.value
  const shaped = shape === undefined ? content.value : { ...content.value, data: each(data, shape) }
  return { ...answer, content: { kind: 'json', value: withTotpQueries(shaped) } }
}

function each(data: unknown, shape: (one: Members) => Members): unknown {
  if (Array.isArray(data)) return data.map((one) => (isMembers(one) ? shape(one) : one))
  return isMembers(data) ? shape(data) : data
}
