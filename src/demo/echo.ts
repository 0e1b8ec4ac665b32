/**
 * The service behind the gateway of the demo: it echoes its request, so that users see what such a service learns about
 * its callers, and what it does not (D-42).
 */
import { openLoopback } from './loopback-server.ts'

export const startEcho = () =>
  openLoopback((request, response) => {
    const { method, url: path, headers } = request
    request.resume() // the body is not needed
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(`${JSON.stringify({ method, path, headers }, undefined, 2)}\n`)
  })
