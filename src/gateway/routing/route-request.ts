/** Where a well-formed request goes: to the gateway itself, to an upstream, or nowhere. D-401, D-402. */
import type { AnswerCode } from '../http/answers.ts'
import type { InboundRequest } from '../http/read-request.ts'
import { upgradeFault } from '../http/tunnel.ts'
import type { ChooseUpstream } from './choose-upstream.ts'
import { readOwnPath } from './own-paths.ts'
import { readPath } from './request-path.ts'

export type Destination<Upstream> =
  | { readonly to: 'nowhere'; readonly code: AnswerCode; readonly why?: string }
  /** `rest` are the segments after the name. */
  | { readonly to: 'own'; readonly name: string; readonly rest: readonly string[] }
  | { readonly to: 'upstream'; readonly upstream: Upstream }

/** Methods that are not forwarded. TRACE would echo the fields that the gateway adds (RFC 9110 §9.3.8). */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['TRACE'])

export function routeRequest<Upstream>(
  inbound: InboundRequest,
  kind: 'request' | 'upgrade',
  choose: ChooseUpstream<Upstream>,
): Destination<Upstream> {
  if (REFUSED_METHODS.has(inbound.method)) return { to: 'nowhere', code: 'METHOD_NOT_ALLOWED' }
  const path = readPath(inbound.target)
  const own = readOwnPath(path)
  if (own.outcome === 'ambiguous') return { to: 'nowhere', code: 'BAD_REQUEST', why: own.why }
  if (own.outcome === 'own') return { to: 'own', name: own.name, rest: own.rest }
  const fault = kind === 'upgrade' ? upgradeFault(inbound) : undefined
  if (fault !== undefined) return { to: 'nowhere', code: 'BAD_REQUEST', why: fault }
  const choice = choose(inbound.hostName, path)
  switch (choice.outcome) {
    case 'ambiguous':
      return { to: 'nowhere', code: 'BAD_REQUEST', why: choice.why }
    case 'none':
      return { to: 'nowhere', code: 'NO_UPSTREAM' }
    case 'chosen':
      return { to: 'upstream', upstream: choice.upstream }
  }
}
