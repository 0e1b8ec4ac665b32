import type { AddressInfo, ListenOptions, Server } from 'node:net'

/**
 * Listens, and returns the port. Rejects if it cannot. `onRefused` gets the later errors, which are those of `accept`:
 * that connection is lost, but the next one may succeed. Without a listener, such an error would end the process.
 */
export function listenAt(
  server: Server,
  at: ListenOptions,
  onRefused: (error: NodeJS.ErrnoException) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(at, () => {
      server.off('error', reject)
      server.on('error', onRefused)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
