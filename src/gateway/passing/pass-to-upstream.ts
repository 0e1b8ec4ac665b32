/** Passes a request of an admitted caller to its upstream: a request is forwarded, an upgrade becomes a tunnel. */
import { formatHostPort } from '../../base/host-port.ts'
import type { Accepted } from '../../router/router.ts'
import type { AnswerCode } from '../http/answers.ts'
import { upstreamFields } from '../http/fields.ts'
import { forward } from '../http/forward.ts'
import { tunnel } from '../http/tunnel.ts'
import type { GatewayTimes } from '../http/upstream.ts'
import type { UpstreamSettings } from '../settings/settings.ts'
import { createOpenConnections } from '../tcp/open-connections.ts'
import { admit } from './admit.ts'
import type { Exchange } from './exchange.ts'
import type { GatewayParts } from './own-routes.ts'

export type PassToUpstream = (settings: UpstreamSettings, exchange: Exchange) => Promise<void>

export function createPassToUpstream(
  parts: GatewayParts,
  limits: {
    readonly times: GatewayTimes
    /** Requests at upstreams. With HTTP/2 a client connection may have many, each with a descriptor of its own. */
    readonly mostRequests: number
    /** WebSockets of an identity (D-422). */
    readonly mostPerIdentity: number
  },
): PassToUpstream {
  const { times, mostRequests } = limits
  let running = 0
  const takeWebSocket = createOpenConnections(limits.mostPerIdentity)

  /** Takes a place until the response is closed. If there is none, answers the client and returns false. */
  function takePlace({ response, upgrade, answer }: Exchange, { identityId }: Accepted): boolean {
    if (running >= mostRequests) {
      answer({ code: 'OVERLOADED' }, {})
      return false
    }
    const giveBack = upgrade && takeWebSocket(identityId)
    if (upgrade !== undefined && giveBack === undefined) {
      answer({ code: 'TOO_MANY_CONNECTIONS' }, {})
      return false
    }
    running += 1
    response.once('close', () => {
      running -= 1
      giveBack?.()
    })
    return true
  }

  return async (settings, exchange) => {
    const { inbound, requestId, message, response, socket, upgrade } = exchange
    const accepted = await admit(parts, exchange, settings)
    if (accepted === undefined || !takePlace(exchange, accepted)) return
    response.once('close', parts.rely(exchange, accepted, settings))
    exchange.markPassed()
    if (socket.destroyed) return
    const upstream = settings.to.at
    const fields = upstreamFields(inbound.fields, {
      host: formatHostPort(upstream),
      identityId: accepted.identityId,
      sessionId: accepted.sessionId,
      requestId,
      remoteAddress: exchange.remoteAddress,
      forwardedHost: inbound.host,
    })
    const fail = (code: AnswerCode, error: Error) =>
      exchange.answer({ code }, { why: error.message })
    const passage = { inbound, fields, requestId, fail }
    if (upgrade !== undefined) {
      const onOpen = () => {
        response.statusCode = 101 // only for the log; the status line is already written
        parts.opened(exchange)
      }
      tunnel({ ...passage, ...upgrade, response, onOpen }, { upstream, times })
      return
    }
    if (exchange.isWaiting === true) response.writeContinue()
    forward({ ...passage, message, response }, { upstream, times })
  }
}
