/**
 * What the connections of the gateway's clients rely on. D-42: a connection is closed when what its last request was
 * accepted by ends, whether or not something runs on it then; so is every one with a running request that relied on it.
 */
import type { Socket } from 'node:net'
import type { Log } from '../base/log.ts'
import type { Accepted, Watch } from '../router/router.ts'

/** From now on the connection relies on this. Answers the function that says the request is over. */
export type Rely = (socket: Socket, accepted: Accepted) => () => void

interface Reliance {
  readonly stop: () => void
  isOver: boolean
}

export function createRely({ watch, log }: { readonly watch: Watch; readonly log: Log }): Rely {
  /** Of each connection, the last request that was accepted on it. */
  const last = new Map<Socket, Reliance>()

  return (socket, accepted) => {
    const { sessionId, identityId } = accepted
    const stop = watch(accepted, (why) => {
      log.info({ why, sessionId, identityId }, 'an open connection is closed')
      socket.destroy()
    })
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
