/** Ports and listeners: for the small servers of tests, and for services that must keep their address. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** Listens on this machine, by default at a free port. Ends with the test, with its connections. Returns the port. */
export async function listenUntilEnd(
  t: Pick<TestContext, 'after'>,
  server: Server,
  { port = 0, host = '127.0.0.1' }: { readonly port?: number; readonly host?: string } = {},
): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

/**
 * A port that nobody listens on just now, below those that systems give out by themselves: any connection of another
 * test could have one of those in the moment in which it is wanted back.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000)
    if (await isFree(port)) return port
  }
}

/** Whether nobody listens there. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  await new Promise((resolve) => server.close(resolve))
  return isListening
}

/**
 * Whether a connection to the port is refused. If a listener closes at this moment, the kernel may already have
 * accepted the connection and then resets it: that is a refusal too.
 */
export async function isRefused(port: number, host = '127.0.0.1'): Promise<boolean> {
  const socket = connect(port, host)
  try {
    await once(socket, 'connect')
    return false
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!REFUSALS.includes(code)) throw error
    return true
  } finally {
    socket.destroy()
  }
}

export const REFUSALS: readonly string[] = ['ECONNREFUSED', 'ECONNRESET']

/** The `web` part of a configuration with one listener on 127.0.0.1, known to clients as `localhost:<address>`. */
export function webAt(
  port: number,
  address = port,
  /** Besides the two APIs. */
  bindings: readonly string[] = [],
): readonly object[] {
  return [
    {
      name: 'default',
      bindPoints: [{ interface: `127.0.0.1:${port}`, address: `localhost:${address}` }],
      apis: ['edge-client', 'edge-management', ...bindings].map((binding) => ({ binding })),
    },
  ]
}
