/**
 * Tracks what the connections of the gateway's clients rely on. D-42: a connection is closed when the credential of its
 * last accepted request ends, whether or not a request is running; so is every connection with a running request that
 * relied on it.
 */
import type { Socket } from 'node:net'
import type { Log } from '../../base/log.ts'
import type { Accepted, EndOfAcceptance, Watch } from '../../router/router.ts'

/** Makes the connection rely on this from now on, and cuts it when this ends. Returns a function that reports the end of the request. */
export type Rely = (
  socket: Socket,
  accepted: Accepted,
  cut: () => void,
  /** Asked again when the identity has lost a role. */
  mayStillPass: () => boolean,
) => () => void

interface Reliance {
  readonly stop: () => void
  isOver: boolean
}

export function createRely({ watch, log }: { readonly watch: Watch; readonly log: Log }): Rely {
  /** The last accepted request of each connection. */
  const last = new Map<Socket, Reliance>()

  return (socket, accepted, cut, mayStillPass) => {
    const { sessionId, identityId } = accepted
    const close = (why: EndOfAcceptance) => {
      log.info({ why, sessionId, identityId }, 'an open connection is closed')
      cut()
    }
    const stop = watch(accepted, close, mayStillPass)
    const reliance: Reliance = { stop, isOver: false }
    const before = last.get(socket)
    if (before === undefined) {
      socket.once('close', () => {
        last.get(socket)?.stop()
        last.delete(socket)
      })
    } else if (before.isOver) before.stop()
    last.set(socket, reliance)
    return () => {
      reliance.isOver = true
      if (last.get(socket) !== reliance || socket.destroyed) stop()
    }
  }
}
