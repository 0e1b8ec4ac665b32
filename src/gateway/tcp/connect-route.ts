/**
 * `/.latchkey/connect/NAME`: TCP services behind the gateway. D-420. The caller is authenticated as for every other
 * request, and only then learns whether there is a service of that name.
 */
import { TCP_PROTOCOL } from '../../protocol/tcp-tunnel.ts'
import type { AnswerCode } from '../http/answers.ts'
import { valuesOf } from '../http/fields.ts'
import { admit } from '../passing/admit.ts'
import type { Exchange } from '../passing/exchange.ts'
import type { OwnRoute } from '../passing/own-routes.ts'
import type { UpstreamSettings } from '../settings/settings.ts'
import { upstreamTo } from '../settings/upstream-url.ts'
import { createOpenConnections } from './open-connections.ts'
import { openTcpTunnel, type TcpTimes } from './tcp-tunnel.ts'

/** Stands for a name that does not exist, which an authenticated caller may learn. */
const NOBODY_KNOWS: UpstreamSettings = {
  ...upstreamTo({ kind: 'tcp', at: { host: '', port: 0 } }),
  name: '',
  signIn: false,
}

export function createConnectRoute(options: {
  readonly times: Pick<TcpTimes, 'answer'>
  /** D-422. */
  readonly mostPerIdentity: number
}): OwnRoute {
  const takePlace = createOpenConnections(options.mostPerIdentity)
  return {
    name: 'connect',
    async handle(exchange, rest, gateway) {
      const { upgrade, response, requestId } = exchange
      const fault = requestFault(exchange)
      if (fault !== undefined) {
        exchange.answer({ code: 'BAD_REQUEST' }, { why: fault })
        return
      }
      const upstream = gateway.upstreams.find(
        ({ name, to }) => to.kind === 'tcp' && rest.length === 1 && name === rest[0],
      )
      const accepted = await admit(gateway, exchange, upstream ?? NOBODY_KNOWS)
      if (accepted === undefined) return
      const refuse = (code: AnswerCode, why = {}) => exchange.answer({ code }, why)
      if (upstream === undefined) return refuse('UNKNOWN_SERVICE')
      exchange.note({ upstream: upstream.name })
      if (upgrade === undefined) return refuse('UPGRADE_REQUIRED')
      const giveBack = takePlace(accepted.identityId)
      if (giveBack === undefined) return refuse('TOO_MANY_CONNECTIONS')
      exchange.socket.once('close', giveBack)
      response.once('close', gateway.rely(exchange, accepted, upstream))
      if (exchange.socket.destroyed) return giveBack()
      openTcpTunnel(
        {
          upstream: upstream.to.at,
          stream: upgrade,
          requestId,
          fail: (code, error) => refuse(code, { why: error.message }),
          onOpen() {
            response.statusCode = 101 // only for the log; the status line is already written
            gateway.opened(exchange)
          },
        },
        { ...options.times, idle: upstream.idle },
      )
    },
  }
}

function requestFault({ inbound, upgrade }: Exchange): string | undefined {
  if (inbound.method !== 'GET') return 'its method is not GET'
  if (inbound.body.kind !== 'none') return 'it has a body'
  // Programs have none: a browser that was tricked into this would.
  if (valuesOf(inbound.fields, 'cookie').length > 0) return 'it has a cookie'
  if (upgrade === undefined) return undefined
  const protocols = valuesOf(inbound.fields, 'upgrade')
  const isOurs = protocols.length === 1 && protocols[0]?.toLowerCase() === TCP_PROTOCOL
  return isOurs ? undefined : 'it asks for another protocol'
}
