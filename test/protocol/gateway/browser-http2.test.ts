/** Signing out at a gateway over HTTP/2, where the page and the streams of the application share a connection: D-416. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { gatewayVisitor, NAVIGATION, SESSION_COOKIE } from '../../support/edge/gateway-visitor.ts'
import { replyOf } from '../../support/edge/http2/client.ts'
import { startRealEdge } from '../../support/edge/real-edge.ts'
import { startService } from '../../support/service.ts'

test('D-416: signing out ends an open stream, and the page that says so arrives over its connection', async (t) => {
  const service = await startService(t)
  const edge = await startRealEdge(t, service, {
    upstream: {
      answer(request, response) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: 1\n\n')
        if (request.url !== '/events') response.end()
      },
    },
  })
  const visitor = gatewayVisitor(service, edge)
  assert.equal((await visitor.signIn()).status, 200)
  const session = connect(edge.url, { ca: edge.gatewayCa })
  session.on('error', () => undefined)
  t.after(() => session.destroy())
  const cookie = `${SESSION_COOKIE}=${visitor.cookies.get(SESSION_COOKIE)}`
  const events = session.request({ ':path': '/events', cookie, 'sec-fetch-site': 'same-origin' })
  events.on('error', () => undefined)
  const closed = once(events, 'close')
  await once(events, 'data')

  const page = await replyOf(session, {
    ...NAVIGATION,
    ...{ ':method': 'POST', ':path': '/.latchkey/sign-out', cookie },
    ...{ 'sec-fetch-site': 'same-origin', origin: edge.url },
  })
  assert.equal(page.status, 200)
  assert.match(page.body, /Signed out/)
  await closed
  assert.equal((await visitor.visit('/')).status, 302)
})
