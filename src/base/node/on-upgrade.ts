import type { ClientRequest } from 'node:http'

/**
 * Ends a request whose answer switches protocols (101) although it did not ask for that. Without a listener, the request
 * would end with neither a response nor an error, nor its timeout.
 */
export function onUpgrade(request: ClientRequest, fail: () => void): void {
  request.once('upgrade', (_, socket) => {
    socket.destroy()
    fail()
  })
}
