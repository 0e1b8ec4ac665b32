/** A TCP service behind a gateway, on a free port of this machine. Unless told otherwise, everything comes back. */
import { createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { listenUntilEnd } from '../ports.ts'

export interface TcpService {
  readonly port: number
  readonly sockets: ReadonlySet<Socket>
  /** How each connection that is over has ended: `end` in an orderly way, or the code of its error. */
  readonly ends: readonly string[]
}

export async function startTcpService(
  t: TestContext,
  serve: (socket: Socket) => void = (socket) => void socket.pipe(socket),
): Promise<TcpService> {
  const sockets = new Set<Socket>()
  const ends: string[] = []
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket)
    let why = 'end'
    socket.on('error', (error: NodeJS.ErrnoException) => {
      why = error.code ?? error.message
    })
    socket.once('close', () => {
      sockets.delete(socket)
      ends.push(why)
    })
    serve(socket)
  })
  return { port: await listenUntilEnd(t, server), sockets, ends }
}
