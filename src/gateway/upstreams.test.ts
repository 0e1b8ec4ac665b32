/** Several upstreams behind one gateway, and paths of the gateway itself. D-401, D-402. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { startUpstream } from '../../test/support/edge/upstream.ts'
import { sendOwn } from './http/answers.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

test('host and path choose the upstream; a request that fits none gets 404 and reaches none', async (t) => {
  const wiki = await startUpstream(t)
  const at = { host: '127.0.0.1', port: wiki.port }
  const edge = await startEdge(t, pki, alice, {
    upstreams: (app) => [
      { ...app, name: 'app', hosts: ['app.example.com'], path: '/app' },
      { ...app, name: 'wiki', hosts: ['wiki.example.com'], to: { kind: 'http', at } },
    ],
  })
  const ask = async (host: string, target: string) => {
    const { reply } = await edge.request([`GET ${target} HTTP/1.1`, `host: ${host}`])
    const answer = await reply()
    return `${answer?.status} ${answer?.status === 200 ? '' : answer?.json().error.code}`.trim()
  }
  assert.equal(await ask('app.example.com', '/app/1'), '200')
  assert.equal(await ask('APP.example.com.:8443', '/app'), '200')
  assert.equal(await ask('wiki.example.com', '/a//../b%2fc'), '200')
  assert.equal(await ask('app.example.com', '/'), '404 NO_UPSTREAM')
  assert.equal(await ask('other.example.com', '/app'), '404 NO_UPSTREAM')
  assert.equal(await ask('app.example.com', '/app/../x'), '400 BAD_REQUEST')
  assert.equal(await ask('app.example.com', '/%61pp'), '400 BAD_REQUEST')
  assert.deepEqual(
    edge.upstream.requests.map(({ target }) => target),
    ['/app/1', '/app'],
  )
  assert.deepEqual(edge.upstream.requests[1]?.values('x-forwarded-host'), ['APP.example.com.:8443'])
  assert.deepEqual(
    wiki.requests.map(({ target }) => target),
    ['/a//../b%2fc'],
  )
  assert.ok(edge.log.some(({ upstream, path }) => upstream === 'app' && path === '/app/1'))
})

test('paths of the gateway never reach an upstream', async (t) => {
  const edge = await startEdge(t, pki, alice, {
    gateway: {
      ownRoutes: [
        {
          name: 'echo',
          handle({ response }, rest) {
            const body = rest.join(' ')
            const headers = { 'content-length': String(body.length) }
            sendOwn(response, { status: 200, headers, body }, 'close')
          },
        },
      ],
    },
  })
  const ask = async (target: string) => {
    const { reply } = await edge.request([`GET ${target} HTTP/1.1`, 'host: gateway.example'])
    return reply()
  }
  assert.equal((await ask('/.latchkey/echo/a/b?c'))?.text, 'a b')
  const unknown = await ask('/.latchkey/nothing')
  assert.equal(unknown?.status, 404)
  assert.equal(unknown.json().error.code, 'NOT_FOUND')
  assert.equal((await ask('/x/../.latchkey/echo'))?.json().error.code, 'BAD_REQUEST')
  assert.equal(edge.upstream.received(), '')
})
