/**
 * Responses of an upstream that a client, or a proxy in front of the gateway, could understand differently from the
 * gateway: RFC 9110 §8.6, §15.2; RFC 9112 §11.1. They are refused, or lose what is ambiguous.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { after, test } from 'node:test'
import { startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

const GET = ['GET / HTTP/1.1', 'host: gateway.example']
const HANDSHAKE = [
  ...GET,
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
]

// Attack: whoever can make an upstream answer this gets a proxy in front of the gateway to pass on everything that
// follows, unread, while the gateway still reads requests.
for (const [what, head] of Object.entries({ 'a request': GET, 'a WebSocket': HANDSHAKE })) {
  test(`101 without a protocol, as the answer to ${what}, is 502`, async (t) => {
    const text = 'HTTP/1.1 101 Switching Protocols\r\n\r\n'
    const edge = await startEdge(t, pki, alice, {
      answer: ({ socket }) => void socket.end(text),
      onUpgrade: (_, socket) => void socket.end(text),
    })
    const answer = await (await edge.request(head)).reply()
    assert.equal(answer?.status, 502)
    assert.equal(answer.json().error.code, 'BAD_GATEWAY')
  })
}

// A client that believed the length would take the beginning of the next response for this body.
test('204 has no length, whatever the upstream says', async (t) => {
  const text = 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\nx-own: 1\r\n\r\n'
  const edge = await startEdge(t, pki, alice, {
    answer: ({ socket }) => void socket.end(text),
    onUpgrade: (_, socket) => void socket.end(text),
  })
  for (const head of [GET, HANDSHAKE]) {
    const answer = await (await edge.request(head)).reply()
    assert.equal(answer?.status, 204)
    assert.equal(answer.header('x-own'), '1')
    assert.equal(answer.header('content-length'), undefined)
  }
})

test('over HTTP/2, an answer that cannot be passed on leaves no field in ours', async (t) => {
  const edge = await startEdge(t, pki, alice, {
    answer: ({ socket }) =>
      void socket.end(
        'HTTP/1.1 999 Odd\r\nset-cookie: a=1\r\ncontent-encoding: gzip\r\ncontent-length: 0\r\n\r\n',
      ),
  })
  const { pem: cert, keyPem: key } = alice
  const session = connectHttp2(edge.url, { ca: pki.root.pem, cert, key })
  t.after(() => session.destroy())
  const stream = session.request({ authorization: `Bearer ${await pki.token()}` })
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 502)
  assert.equal(headers['set-cookie'], undefined)
  assert.equal(headers['content-encoding'], undefined)
})
