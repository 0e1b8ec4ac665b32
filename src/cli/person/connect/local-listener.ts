/** Listens on this machine, and carries each connection through the gateway in a tunnel of its own. */
import { createServer, type Socket } from 'node:net'
import { formatHostPort, type HostPort } from '../../../base/host-port.ts'
import { listenAt } from '../../../base/node/listen.ts'
import type { Tunnel } from '../../../client/gateway/tunnel.ts'
import { join } from '../../../gateway/tcp/join.ts'
import { CommandFailed, EXIT } from '../../terminal/io.ts'

/** Throws CommandFailed if the address cannot be used. */
export async function listenLocally(
  at: HostPort,
  options: {
    readonly open: () => Promise<Tunnel>
    /** The tunnel of a connection could not be opened. */
    readonly onFailure: (error: unknown) => void
    /** The other side has cut a connection. */
    readonly onCut: () => void
  },
) {
  const sockets = new Set<Socket>()

  async function carry(local: Socket): Promise<void> {
    const reset = () => void local.resetAndDestroy()
    try {
      const tunnel = await options.open()
      if (local.destroyed) {
        tunnel.reset()
        return
      }
      tunnel.stream.once('close', () => {
        if (!tunnel.stream.readableEnded && !local.destroyed) options.onCut()
      })
      join({ stream: local, reset }, tunnel, undefined)
    } catch (error) {
      reset()
      options.onFailure(error)
    }
  }

  const server = createServer(
    { allowHalfOpen: true, noDelay: true, pauseOnConnect: true, keepAlive: true },
    (local) => {
      sockets.add(local)
      local.on('error', () => undefined)
      local.once('close', () => sockets.delete(local))
      void carry(local)
    },
  )
  const port = await listenAt(server, { ...at, exclusive: true }, () => undefined).catch(
    (error: NodeJS.ErrnoException) => {
      throw unusable(error, at)
    },
  )
  return {
    port,
    /** Resets what is open. */
    stop() {
      server.close()
      for (const socket of sockets) socket.resetAndDestroy()
    },
  }
}

function unusable({ code }: NodeJS.ErrnoException, at: HostPort): CommandFailed {
  const place = formatHostPort(at)
  const [why, exit] = PROBLEMS[code ?? ''] ?? [`cannot be used (${code})`, EXIT.failed]
  return new CommandFailed(`${place} ${why}`, exit)
}

const PROBLEMS: Readonly<Record<string, readonly [string, CommandFailed['exit']]>> = {
  EADDRINUSE: [
    'is in use by another program; choose another port with --listen, or 0 for a free one',
    EXIT.conflict,
  ],
  EACCES: ['needs more rights; choose a port above 1023', EXIT.failed],
  EADDRNOTAVAIL: ['is not an address of this machine', EXIT.usage],
  ENOTFOUND: ['is not an address of this machine', EXIT.usage],
}
