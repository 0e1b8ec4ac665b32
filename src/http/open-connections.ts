/**
 * The connections of one server, and whether something runs on them, so that a drain can tell the idle from the busy.
 * Node's own list knows only connections that have asked for something: one in its handshake, or one that a browser
 * opened in advance, would hold the exit.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'

export interface OpenConnections {
  /** Closes every connection that no request runs on. */
  closeIdle(): void
  closeAll(): void
}

export function followConnections(server: Server): OpenConnections {
  const handshaking = new Map<string, Socket>()
  const running = new Map<Socket, number>()

  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    handshaking.set(peer, socket)
    socket.once('close', () => {
      if (handshaking.get(peer) === socket) handshaking.delete(peer)
    })
  })
  server.on('secureConnection', (socket) => {
    handshaking.delete(peerOf(socket))
    running.set(socket, 0)
    socket.once('close', () => running.delete(socket))
  })

  function count({ socket }: IncomingMessage, response: ServerResponse): void {
    running.set(socket, (running.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const before = running.get(socket)
      if (before !== undefined) running.set(socket, before - 1)
    })
  }
  server.prependListener('request', count)
  server.prependListener('checkExpectation', count)

  return {
    closeIdle() {
      for (const socket of handshaking.values()) socket.destroy()
      for (const [socket, requests] of running) {
        // Not at once: the end of an answer may still be on its way out.
        if (requests === 0) socket.destroySoon()
      }
    },
    closeAll() {
      for (const socket of [...handshaking.values(), ...running.keys()]) socket.destroy()
    },
  }
}

/** The TLS socket and the one below it are two objects with one peer. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
