/**
 * Plain HTTP on 127.0.0.1, at a free port, for the small servers of the demo. No option changes the address, and
 * requests with another Host are refused: a web page whose own name resolves here could read the responses.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { formatHostPort, type HostPort } from '../base/host-port.ts'
import { http } from '../base/node/http.ts'
import { listenAt } from '../base/node/listen.ts'

export interface LoopbackServer {
  readonly at: HostPort
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  stop(): Promise<void>
}

export type Handle = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const HOST = '127.0.0.1'

export async function openLoopback(handle: Handle): Promise<LoopbackServer> {
  const server = http.createServer((request, response) => {
    if (request.headers.host !== formatHostPort(at())) {
      response.writeHead(421, { 'content-type': 'text/plain' }).end('not a name of this server\n')
      return
    }
    void (async () => handle(request, response))().catch(() => {
      if (response.headersSent) response.destroy()
      else response.writeHead(500, { 'content-type': 'text/plain' }).end('the request failed\n')
    })
  })
  const at = (): HostPort => ({ host: HOST, port: (server.address() as AddressInfo).port })
  await listenAt(server, { host: HOST, port: 0 }, () => undefined)
  const place = at()
  return {
    at: place,
    origin: `http://${formatHostPort(place)}`,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
