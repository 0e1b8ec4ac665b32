/** What answers below `/.latchkey/`, instead of an upstream. D-402. */
import type { Accepted } from '../../router/router.ts'
import type { UpstreamSettings } from '../settings/settings.ts'
import type { AdmitPorts } from './admit.ts'
import type { Exchange } from './exchange.ts'

export interface OwnRoute {
  /** The segment after `/.latchkey/`. */
  readonly name: string
  /** `rest` are the segments after the name. It answers every request that it gets. */
  handle(exchange: Exchange, rest: readonly string[], gateway: GatewayParts): void | Promise<void>
}

/** What own routes have in common with requests that pass to an upstream. */
export interface GatewayParts extends AdmitPorts {
  readonly upstreams: readonly UpstreamSettings[]
  /** Closes the client's connection when what was accepted ends. Returns a function that reports the end of its use. */
  rely(exchange: Exchange, accepted: Accepted, upstream: UpstreamSettings): () => void
  /** Tracks an open tunnel, so that it ends when the gateway stops. */
  opened(exchange: Exchange): void
}
