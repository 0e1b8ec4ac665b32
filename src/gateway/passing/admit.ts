/**
 * Whether the sender of a request may pass to an upstream: authenticates it, and applies the rules of the upstream.
 * Answers the client if not. D-42, D-403.
 */
import { isGone } from '../../https-server/http2.ts'
import type { Accepted, Refused, Router } from '../../router/router.ts'
import { answerTo, brandOf } from '../http/answers.ts'
import { answerUnmet, describeUnmet } from '../rules/answer-unmet.ts'
import type { Unmet } from '../rules/judge.ts'
import { type JudgePorts, judgeCaller } from '../rules/judge-caller.ts'
import type { UpstreamSettings } from '../settings/settings.ts'
import type { Exchange } from './exchange.ts'

/** Another way to authenticate than by certificate and token, such as the cookie of a browser. */
export interface WayIn {
  /** Undefined if the request has no credential of this kind: then the next way is tried. */
  authenticate(
    exchange: Exchange,
    upstream: UpstreamSettings,
  ): Promise<Accepted | Refused | undefined>
  /** Answers a refusal in its own way, such as a redirect, and returns true; otherwise the client gets the usual one. */
  refuse?(exchange: Exchange, upstream: UpstreamSettings, refused: Refused): boolean
  /** The same, for a caller that was accepted but does not meet the rules of the upstream. */
  refuseUnmet?(exchange: Exchange, upstream: UpstreamSettings, unmet: Unmet): boolean
}

export interface AdmitPorts extends JudgePorts {
  readonly router: Pick<Router, 'check' | 'brand' | 'rolesOf'>
  readonly waysIn: readonly WayIn[]
}

/** Resolves to undefined if the client was answered or is gone. */
export async function admit(
  ports: AdmitPorts,
  exchange: Exchange,
  upstream: UpstreamSettings,
): Promise<Accepted | undefined> {
  const { router, waysIn } = ports
  const verdict = await authenticate(ports, exchange, upstream)
  if (exchange.socket.destroyed || isGone(exchange.response)) return undefined
  if (verdict.verdict === 'accepted') {
    const { identityId, sessionId } = verdict
    exchange.note({ identityId, sessionId })
    const unmet = judgeCaller(ports, verdict, upstream)
    if (unmet === undefined) return verdict
    if (waysIn.some((way) => way.refuseUnmet?.(exchange, upstream, unmet))) return undefined
    exchange.answer(answerUnmet(unmet, brandOf(router)), describeUnmet(unmet))
    return undefined
  }
  if (waysIn.some((way) => way.refuse?.(exchange, upstream, verdict))) return undefined
  const { verdict: _, ...why } = verdict
  exchange.answer(answerTo(verdict, exchange.inbound.token, brandOf(router)), why)
  return undefined
}

async function authenticate(
  { router, waysIn }: AdmitPorts,
  exchange: Exchange,
  upstream: UpstreamSettings,
): Promise<Accepted | Refused> {
  for (const way of waysIn) {
    const verdict = await way.authenticate(exchange, upstream)
    if (verdict !== undefined) return verdict
  }
  // R093: the end-entity certificate of the handshake; there is neither resumption nor renegotiation.
  const certificate = exchange.socket.getPeerX509Certificate()?.raw
  return router.check({ certificate, token: exchange.inbound.token })
}
