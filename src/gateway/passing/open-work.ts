/**
 * The requests in progress and the tunnels. They are cut when what they rely on ends (`reliances.ts`), or when the
 * upstreams are replaced and no longer admit them. D-42, D-396.
 */
import type { Duplex } from 'node:stream'
import type { Log } from '../../base/log.ts'
import type { Router } from '../../router/router.ts'
import type { CurrentUpstreams } from '../routing/current-upstreams.ts'
import { routeRequest } from '../routing/route-request.ts'
import { type JudgePorts, judgeOpen } from '../rules/judge-caller.ts'
import type { UpstreamSettings } from '../settings/settings.ts'
import type { Exchange } from './exchange.ts'
import type { GatewayParts } from './own-routes.ts'
import { createRely } from './reliances.ts'

export interface OpenWork extends Pick<GatewayParts, 'rely' | 'opened'> {
  replaceUpstreams(next: readonly UpstreamSettings[]): void
  /** Cuts tunnels, open or opening. */
  cutTunnels(): void
  tunnelCount(): number
}

export function createOpenWork(
  ports: JudgePorts & { readonly router: Pick<Router, 'watch'>; readonly log: Log },
  upstreams: CurrentUpstreams,
): OpenWork {
  const rely = createRely({ watch: ports.router.watch, log: ports.log })
  /** Tunnels, open or opening, with what cuts them: both were admitted by the upstreams of that moment. */
  const upgrades = new Map<Duplex, () => void>()
  const tunnels = new Set<Duplex>()
  /** Requests in progress, with whether their caller may still pass. */
  const requests = new Map<Exchange, () => boolean>()

  /** A request is judged by the upstream that it would reach now; a tunnel stays at its own. */
  function currentUpstream({ inbound, upgrade }: Exchange, upstream: UpstreamSettings) {
    if (upgrade !== undefined) return upstream
    const destination = routeRequest(inbound, 'request', upstreams.choose)
    return destination.to === 'upstream' ? destination.upstream : upstream
  }

  function followRequest(exchange: Exchange, upstream: UpstreamSettings, mayStay: () => boolean) {
    requests.set(exchange, mayStay)
    exchange.response.once('close', () => requests.delete(exchange))
    // D-396: the rules may have changed while the caller was authenticated.
    if (!upstreams.list().includes(upstream) && !mayStay()) cut(exchange)
  }

  function followUpgrade(exchange: Exchange, upstream: UpstreamSettings) {
    const { socket } = exchange
    upgrades.set(socket, () => cut(exchange))
    socket.once('close', () => upgrades.delete(socket))
    // D-396: the upstreams may have changed while the caller was authenticated.
    if (!upstreams.includes(upstream)) cut(exchange)
  }

  function cutTunnels(): void {
    for (const end of upgrades.values()) end()
  }

  return {
    rely(exchange, accepted, upstream) {
      const current = () => currentUpstream(exchange, upstream)
      const meetsRules = judgeOpen(ports, accepted, current)
      // D-410: a caller without a token is a browser.
      const mayStay = () =>
        meetsRules() && (exchange.inbound.token !== undefined || current().signIn)
      if (exchange.upgrade !== undefined) followUpgrade(exchange, upstream)
      else followRequest(exchange, upstream, mayStay)
      return rely(exchange.socket, accepted, () => cut(exchange), mayStay)
    },

    opened(exchange) {
      exchange.markPassed()
      const { socket } = exchange
      tunnels.add(socket)
      socket.once('close', () => tunnels.delete(socket))
    },

    replaceUpstreams(next) {
      const before = upstreams.list()
      upstreams.replace(next)
      if (!before.every(upstreams.includes)) cutTunnels()
      for (const [exchange, mayStay] of requests) if (!mayStay()) cut(exchange)
    },

    cutTunnels,
    tunnelCount: () => tunnels.size,
  }
}

/** D-421: the peer must not mistake a cut tunnel for one that ended normally. */
function cut({ socket, upgrade }: Exchange): void {
  if (upgrade === undefined) socket.destroy()
  else upgrade.reset()
}
