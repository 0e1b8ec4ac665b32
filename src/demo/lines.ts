/**
 * A TCP service behind the gateway of the demo: it sends a greeting, and answers each line. It listens on this machine only, and
 * stands for a database or a shell (D-420).
 */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { formatHostPort } from '../base/host-port.ts'
import { listenAt } from '../base/node/listen.ts'

const HOST = '127.0.0.1'

export async function startLines() {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.write('Hello from a TCP service.\n')
    createInterface({ input: socket })
      .on('line', (line) => socket.write(`You said: ${line}\n`))
      .once('close', () => socket.end())
  })
  const at = { host: HOST, port: await listenAt(server, { host: HOST, port: 0 }, () => undefined) }
  return {
    at,
    url: `tcp://${formatHostPort(at)}`,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
