/** Ports and listeners for services that must keep their address: over a restart, or behind a shared one. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

/** The `web` part of a configuration with one listener on 127.0.0.1, known to clients as `localhost:<address>`. */
export function webAt(port: number, address = port): readonly object[] {
  return [
    {
      name: 'default',
      bindPoints: [{ interface: `127.0.0.1:${port}`, address: `localhost:${address}` }],
      apis: [{ binding: 'edge-client' }, { binding: 'edge-management' }],
    },
  ]
}
