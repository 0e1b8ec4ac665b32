/**
 * Accepts the connections of all listeners in the supervisor and gives each to a worker, in turn (D-287). The sockets
 * stay open while workers come and go, and a connection that a dead worker did not get goes to another one.
 */
import net, { type Socket } from 'node:net'
import type { HostPort } from '../../base/host-port.ts'
import type { Log } from '../../base/log.ts'
import { listenAt } from '../../base/node/listen.ts'

export interface Door {
  /** Accepts connections for the listener with this index. Returns the port. */
  listen(listener: number, at: HostPort): Promise<number>
  /** From now on, the worker gets connections. Returns a function that ends it. */
  addWorker(worker: DoorWorker): () => void
  /** Accepts nothing any more. Connections that no worker has are closed. */
  close(): void
}

export interface DoorWorker {
  /** Resolves when the worker has the connection; rejects if the worker is gone. */
  give(listener: number, socket: Socket): Promise<void>
}

interface Waiting {
  readonly listener: number
  readonly socket: Socket
}

/** As many as the kernel keeps waiting by default, in front of a process that does not accept. */
const MOST_WAITING = 511

export function createDoor({ log }: { readonly log: Pick<Log, 'warn'> }): Door {
  const servers: net.Server[] = []
  const workers = new Set<DoorWorker>()
  /** Those that have taken their last connection; the first one is next. */
  const free: DoorWorker[] = []
  const waiting: Waiting[] = []
  let isRefusing = false
  let isClosed = false

  function accept(listener: number, socket: Socket): void {
    // Without a listener, a reset before a worker has it would end this process.
    socket.on('error', () => {})
    if (waiting.length >= MOST_WAITING) {
      if (!isRefusing) log.warn({ waiting: waiting.length }, 'no worker takes connections')
      isRefusing = true
      socket.destroy()
      return
    }
    waiting.push({ listener, socket })
    giveOut()
  }

  function giveOut(): void {
    while (waiting.length > 0) {
      const worker = free.shift()
      const next = worker && waiting.shift()
      if (worker === undefined || next === undefined) return
      isRefusing = false
      worker.give(next.listener, next.socket).then(
        () => {
          // Closes only the copy of this process.
          next.socket.destroy()
          if (workers.has(worker)) free.push(worker)
          giveOut()
        },
        () => {
          if (isClosed) next.socket.destroy()
          else waiting.unshift(next)
          giveOut()
        },
      )
    }
  }

  return {
    async listen(listener, { host, port }) {
      const server = net.createServer({ noDelay: true, pauseOnConnect: true }, (socket) =>
        accept(listener, socket),
      )
      const bound = await listenAt(server, { host, port }, ({ message }) =>
        log.warn({ reason: message }, 'connections are refused'),
      )
      servers.push(server)
      return bound
    },

    addWorker(worker) {
      workers.add(worker)
      free.push(worker)
      giveOut()
      return () => {
        workers.delete(worker)
        const at = free.indexOf(worker)
        if (at >= 0) free.splice(at, 1)
      }
    },

    close() {
      isClosed = true
      for (const server of servers) server.close()
      for (const { socket } of waiting.splice(0)) socket.destroy()
    },
  }
}
