/** What the cookie of a browser does not open: upstreams without `signIn`, and TCP services. D-410, D-420. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { upstreamTo } from '../../../src/gateway/settings/upstream-url.ts'
import {
  gatewayVisitor,
  NAVIGATION,
  SCRIPT,
  SESSION_COOKIE,
} from '../../support/edge/gateway-visitor.ts'
import { oidcSession } from '../../support/edge/live-session.ts'
import { startRealEdge, type Traveller, travel, travellerOf } from '../../support/edge/real-edge.ts'
import { startTcpService } from '../../support/edge/tcp-service.ts'
import { startService } from '../../support/service.ts'

test('the cookie of a browser', async (t) => {
  const service = await startService(t)
  const tcp = await startTcpService(t)
  const edge = await startRealEdge(t, service, {
    upstreams: (to) => [
      to,
      { ...to, name: 'programs', path: '/api', signIn: false },
      {
        ...to,
        name: 'postgres',
        to: { kind: 'tcp', at: { host: '127.0.0.1', port: tcp.port } },
      },
    ],
  })
  const visitor = gatewayVisitor(service, edge)
  assert.equal((await visitor.signIn('/')).status, 200)

  await t.test(
    'does not pass an upstream without signIn, and nobody is sent to sign in',
    async () => {
      const before = edge.upstream.requests.length
      for (const one of [visitor, gatewayVisitor(service, edge)]) {
        const reply = await one.visit('/api/x', { headers: NAVIGATION })
        assert.equal(reply.status, 403)
        assert.equal(reply.headers.location, undefined)
        const script = await one.visit('/api/x', { headers: SCRIPT })
        assert.equal(script.json().error.code, 'FORBIDDEN')
        assert.equal(edge.log.findLast(({ msg }) => msg === 'request')?.reason, 'no-certificate')
      }
      assert.equal(edge.upstream.requests.length, before)
      const traveller = await travellerOf(await oidcSession(service))
      const { send, reply } = await travel(t, edge, traveller)
      const own = Object.entries(traveller.headers).map((field) => field.join(': '))
      send(`${['GET /api/x HTTP/1.1', 'host: localhost', ...own].join('\r\n')}\r\n\r\n`)
      assert.equal((await reply())?.status, 200, 'a program passes')
    },
  )

  await t.test('does not open a TCP service', async () => {
    const { send, reply } = await travel(t, edge, { headers: {} })
    const lines = [
      'GET /.latchkey/connect/postgres HTTP/1.1',
      `host: ${new URL(edge.url).host}`,
      `origin: ${edge.url}`,
      'connection: Upgrade',
      'upgrade: latchkey-tcp',
      `cookie: ${SESSION_COOKIE}=${visitor.cookies.get(SESSION_COOKIE)}`,
    ]
    send(`${lines.join('\r\n')}\r\n\r\n`)
    const answer = await reply()
    assert.equal(answer?.status, 400)
    assert.equal(answer?.json().error.code, 'BAD_REQUEST')
    assert.equal(tcp.sockets.size, 0)
  })
})

test('D-396: switching signIn off cuts the streams of browsers, and leaves those of programs', async (t) => {
  const responses: ServerResponse[] = []
  const service = await startService(t)
  const edge = await startRealEdge(t, service, {
    upstream: {
      answer(request, response) {
        response.writeHead(200, { 'content-length': 2 })
        if (request.url !== '/events') return response.end('ab')
        responses.push(response)
        return response.write('a')
      },
    },
  })
  const { host } = new URL(edge.url)
  const open = async (traveller: Traveller) => {
    const connection = await travel(t, edge, traveller)
    const own = Object.entries(traveller.headers).map((field) => field.join(': '))
    connection.send(`${['GET /events HTTP/1.1', `host: ${host}`, ...own].join('\r\n')}\r\n\r\n`)
    await once(connection.socket, 'data')
    return connection
  }
  const visitor = gatewayVisitor(service, edge)
  assert.equal((await visitor.signIn('/')).status, 200)
  const cookie = `${SESSION_COOKIE}=${visitor.cookies.get(SESSION_COOKIE)}`
  const browser = await open({ headers: { cookie, 'sec-fetch-site': 'same-origin' } })
  const program = await open(await travellerOf(await oidcSession(service)))
  assert.equal(responses.length, 2)
  const to = upstreamTo({ kind: 'http', at: { host: '127.0.0.1', port: edge.upstream.port } })
  edge.gateway.replaceUpstreams([{ ...to, path: '/events' }])
  edge.gateway.replaceUpstreams([{ ...to, signIn: false }])
  const rest = once(program.socket, 'data')
  for (const response of responses) response.end('b')
  assert.equal(String((await rest)[0]), 'b')
  assert.equal(await browser.reply(), undefined, 'the response to the browser is incomplete')
})
