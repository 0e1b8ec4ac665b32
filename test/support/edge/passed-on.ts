/** One port whose connections go to another one, as a load balancer sends them; and which can be cut. */
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { listenUntilEnd } from '../ports.ts'

export interface PassedOn {
  /** Ends every connection, and each new one at once, until `mend`. */
  cut(): void
  /** New connections go to this port. */
  mend(to: number): void
}

export async function passOn(t: TestContext, from: number, to: number): Promise<PassedOn> {
  const sockets = new Set<Socket>()
  let target: number | undefined = to
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const server = createServer((socket) => {
    if (target === undefined) {
      socket.destroy()
      return
    }
    const other = connect(target, '127.0.0.1')
    sockets.add(socket).add(other)
    socket.on('error', () => other.destroy()).pipe(other)
    other.on('error', () => socket.destroy()).pipe(socket)
  })
  await listenUntilEnd(t, server, { port: from })
  t.after(destroyAll)
  return {
    cut() {
      target = undefined
      destroyAll()
    },
    mend(next) {
      target = next
    },
  }
}
