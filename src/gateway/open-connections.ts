/**
 * The connections of the gateway's clients: whether something runs on them, and what they rely on. D-42: a connection is
 * closed when what its last request was accepted by ends, whether or not something runs on it then; so is every one
 * with a running request that relied on it.
 */
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { Log } from '../base/log.ts'
import type { Accepted, Watch } from '../router/router.ts'

export interface OpenConnections {
  /** Something begins; answers the function that says it is over. */
  begin(socket: Socket): () => void
  /** From now on the connection relies on this. Answers the function that says the request is over. */
  rely(socket: Socket, accepted: Accepted): () => void
  /** A request runs on it. */
  isBusy(socket: unknown): boolean
  /** Closes every connection that nothing runs on. */
  closeIdle(): void
  closeAll(): void
}

interface Connection {
  running: number
  /** The last request that was accepted here. */
  last: Reliance | undefined
}

interface Reliance {
  readonly stop: () => void
  isOver: boolean
}

export function followConnections(
  server: Server,
  { watch, log }: { readonly watch: Watch; readonly log: Log },
): OpenConnections {
  const handshaking = new Map<string, Socket>()
  const connections = new Map<Socket, Connection>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    handshaking.set(peer, socket)
    socket.once('close', () => {
      if (handshaking.get(peer) === socket) handshaking.delete(peer)
    })
  })
  server.on('secureConnection', (socket) => {
    handshaking.delete(peerOf(socket))
    const connection: Connection = { running: 0, last: undefined }
    connections.set(socket, connection)
    socket.once('close', () => {
      connections.delete(socket)
      connection.last?.stop()
    })
  })

  return {
    begin(socket) {
      const connection = connections.get(socket)
      if (connection !== undefined) connection.running += 1
      return () => {
        if (connection !== undefined) connection.running -= 1
      }
    },

    rely(socket, accepted) {
      const { sessionId, identityId } = accepted
      const stop = watch(accepted, (why) => {
        log.info({ why, sessionId, identityId }, 'an open connection is closed')
        socket.destroy()
      })
      const reliance: Reliance = { stop, isOver: false }
      const connection = connections.get(socket)
      if (connection?.last?.isOver) connection.last.stop()
      if (connection !== undefined) connection.last = reliance
      return () => {
        reliance.isOver = true
        if (connection?.last !== reliance || socket.destroyed) stop()
      }
    },

    isBusy: (socket) => (connections.get(socket as Socket)?.running ?? 0) > 0,

    closeIdle() {
      for (const socket of handshaking.values()) socket.destroy()
      for (const [socket, { running }] of connections) {
        // Not at once: the end of an answer may still be on its way out.
        if (running === 0) socket.destroySoon()
      }
    },

    closeAll() {
      for (const socket of [...handshaking.values(), ...connections.keys()]) socket.destroy()
    },
  }
}

/** The TLS socket and the one below it are two objects with one peer. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
