/**
 * A TCP connection through the gateway: after the checks that every request passes, the upgraded connection is joined
 * with one to the upstream. The client gets its 101 only when the upstream has accepted. D-420.
 */
import net from 'node:net'
import type { HostPort } from '../../base/host-port.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { Upgraded } from '../../https-server/https-server.ts'
import { REQUEST_ID_HEADER } from '../../protocol/headers.ts'
import { TCP_PROTOCOL } from '../../protocol/tcp-tunnel.ts'
import { join } from './join.ts'

export interface TcpTunnelling {
  readonly upstream: HostPort
  readonly stream: Upgraded
  readonly requestId: string
  /** Called at most once, before anything was sent to the client. */
  readonly fail: (code: 'BAD_GATEWAY' | 'GATEWAY_TIMEOUT', error: Error) => void
  readonly onOpen: () => void
}

export interface TcpTimes {
  /** Limit until the upstream accepts the connection. */
  readonly answer: Duration
  /** How long no byte may move; undefined means no limit. */
  readonly idle?: Duration | undefined
}

/** Replaced only by tests. */
export type Dial = (at: net.NetConnectOpts) => net.Socket

/** Detects peers that vanished, on connections that may be idle for days. */
const KEEP_ALIVE_MILLISECONDS = 30_000

export function openTcpTunnel(
  { upstream: at, stream, requestId, fail, onOpen }: TcpTunnelling,
  { answer, idle }: TcpTimes,
  dial: Dial = net.connect,
): void {
  const { socket: client, head } = stream
  const upstream = dial({ ...at, allowHalfOpen: true, noDelay: true })
  let isSettled = false
  let isLate = false

  /** Returns whether this is the outcome; there is only one. */
  function settle(): boolean {
    if (isSettled) return false
    isSettled = true
    clearTimeout(timer)
    client.off('close', leave)
    return true
  }

  function leave(): void {
    settle()
    upstream.destroy()
  }

  const timer = setTimeout(() => {
    isLate = true
    upstream.destroy(new Error('the upstream did not accept the connection in time'))
  }, answer)
  client.once('close', leave)
  upstream.on('error', (error) => {
    if (settle()) fail(isLate ? 'GATEWAY_TIMEOUT' : 'BAD_GATEWAY', error)
  })
  upstream.once('connect', () => {
    if (!settle()) return
    stream.letStandStill()
    upstream.setKeepAlive(true, KEEP_ALIVE_MILLISECONDS)
    if (client instanceof net.Socket) {
      client.setNoDelay(true)
      client.setKeepAlive(true, KEEP_ALIVE_MILLISECONDS)
    }
    client.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${TCP_PROTOCOL}\r\n` +
        `${REQUEST_ID_HEADER}: ${requestId}\r\n\r\n`,
    )
    if (head.length > 0) upstream.write(head)
    join(
      { stream: client, reset: stream.reset },
      { stream: upstream, reset: () => void upstream.resetAndDestroy() },
      idle,
    )
    onOpen()
  })
}
