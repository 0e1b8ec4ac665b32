/**
 * Attacks over HTTP/2 at the gateway: requests that are smuggled or forged by it, and floods of frames. D-405; RFC 9113;
 * R101, R102.
 */
import assert from 'node:assert/strict'
import { constants } from 'node:http2'
import { after, describe, type TestContext, test } from 'node:test'
import { type Edge, startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { http2Client, replyOf } from '../../test/support/edge/http2/client.ts'
import {
  CONTINUATION,
  END_HEADERS,
  END_STREAM,
  type Fields,
  frame,
  HEADERS,
  literal,
  openRaw as openRawAs,
  PING,
  RESET,
  request,
  SETTINGS,
} from '../../test/support/edge/http2/frames.ts'
import { waitFor } from '../../test/support/process/child-service.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)
const { open, openSession } = http2Client(pki, alice)
const openRaw = (t: TestContext, edge: Edge) => openRawAs(t, edge, pki, alice)

describe('nothing reaches the upstream of a request over HTTP/2', () => {
  // RFC 9113 §8.2, §8.3: what could be read as two requests, or as another one, once it is HTTP/1.1.
  const forged: Readonly<Record<string, (token: string) => Fields>> = {
    'with a transfer coding': (token) => request(token, ['transfer-encoding', 'chunked']),
    'with Connection': (token) => request(token, ['connection', 'x']),
    'with an upgrade to h2c': (token) => request(token, ['upgrade', 'h2c']),
    'with a line break in the path': (token) =>
      request(token).map(([n, v]) => [n, n === ':path' ? '/ HTTP/1.1\r\nx: y' : v] as const),
    'with a space in the path': (token) =>
      request(token).map(([n, v]) => [n, n === ':path' ? '/ HTTP/1.1' : v] as const),
    'with a space in the method': (token) =>
      request(token).map(([n, v]) => [n, n === ':method' ? 'GET / HTTP/1.1' : v] as const),
    'with an unknown method': (token) =>
      request(token).map(([n, v]) => [n, n === ':method' ? 'FOO' : v] as const),
    'with another scheme': (token) =>
      request(token).map(([n, v]) => [n, n === ':scheme' ? 'http' : v] as const),
    'with a path that is a URL': (token) =>
      request(token).map(([n, v]) => [n, n === ':path' ? 'https://other/' : v] as const),
    'with an upper-case name': (token) => request(token, ['X-Own', '1']),
    'with a second path': (token) => [[':path', '/other'], ...request(token)],
    'with a pseudo-field after the others': (token) => request(token, [':path', '/other']),
    'with an unknown pseudo-field': (token) => [[':other', 'x'], ...request(token)],
    'with another Host': (token) => request(token, ['host', 'other.example']),
    'with an authority that has user information': (token) =>
      request(token).map(([n, v]) => [n, n === ':authority' ? 'a@gateway.example' : v] as const),
    'without an authority': (token) => request(token).filter(([n]) => n !== ':authority'),
    'with two lengths': (token) => request(token, ['content-length', '0'], ['content-length', '0']),
    'with a length that is not that of its body': (token) =>
      request(token, ['content-length', '5']),
    'with two credentials': (token) => request(token, ['zt-session', 'x']),
    'with a repeated credential': (token) => request(token, ['authorization', 'Bearer x']),
  }
  for (const [what, fieldsOf] of Object.entries(forged)) {
    test(what, async (t) => {
      const edge = await startEdge(t, pki, alice)
      const { socket, types } = await openRaw(t, edge)
      const block = Buffer.concat(fieldsOf(await pki.token()).map(literal))
      socket.write(frame(HEADERS, END_HEADERS | END_STREAM, 1, block))
      // Refused by our answer (HEADERS), by a reset of the stream, or by the end of the connection.
      await waitFor(
        () => socket.destroyed || types.some((type) => [HEADERS, RESET, 7].includes(type)),
        () => 'a refusal',
      )
      assert.equal(edge.upstream.requests.length, 0)
      assert.equal(edge.upstream.received(), '')
      const other = await openSession(t, edge)
      assert.equal((await other.ask()).status, 200)
    })
  }

  // nghttp2 drops a field that is not valid, as RFC 9113 §8.2.1 allows an intermediary to do.
  test('that is in a field with a line break', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const { socket, types } = await openRaw(t, edge)
    const fields = request(
      await pki.token(),
      ['x', 'a\r\nx-latchkey-identity-id: admin'],
      ['y: a\r\nx-latchkey-identity-id', 'admin'],
    )
    socket.write(frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat(fields.map(literal))))
    await waitFor(
      () => types.includes(HEADERS),
      () => 'an answer',
    )
    assert.equal(edge.upstream.received().includes('admin'), false)
  })

  test('that CONNECT begins, also the one for WebSockets, which is not offered', async (t) => {
    const { edge, session } = await open(t)
    assert.notEqual(session.remoteSettings.enableConnectProtocol, true)
    const token = await pki.token()
    const plain = { ':method': 'CONNECT', ':authority': '127.0.0.1:80' }
    const reply = await replyOf(session, { ...plain, authorization: `Bearer ${token}` })
    assert.equal(reply.status, 405)
    assert.equal(reply.json().error.code, 'METHOD_NOT_ALLOWED')
    assert.equal(edge.upstream.received(), '')
  })
})

describe('a connection is cut that', () => {
  // CVE-2023-44487: each stream costs a check and perhaps an upstream connection, and the limit of streams never applies.
  test('opens streams and resets them without end', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const { socket, closed } = await openRaw(t, edge)
    const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])
    const block = Buffer.concat(request('x').map(literal))
    for (let i = 0; i < 2_000 && !socket.destroyed; i += 1) {
      const id = 1 + 2 * i
      socket.write(frame(HEADERS, END_HEADERS | END_STREAM, id, block))
      socket.write(frame(RESET, 0, id, cancel))
    }
    await closed
    assert.equal(edge.upstream.received(), '')
  })

  // CVE-2024-28182: a header block that never ends is kept and decoded for ever.
  test('continues a header block without end', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const { socket, closed } = await openRaw(t, edge)
    socket.write(frame(HEADERS, END_STREAM, 1, Buffer.concat(request('x').map(literal))))
    const more = Buffer.concat(Array.from({ length: 100 }, (_, i) => literal([`x-${i}`, 'y'])))
    for (let i = 0; i < 100; i += 1) socket.write(frame(CONTINUATION, 0, 1, more))
    await closed
    assert.equal(edge.upstream.received(), '')
  })

  test('sends settings and pings without reading the answers', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const { socket, closed } = await openRaw(t, edge)
    socket.pause()
    const ping = frame(PING, 0, 0, Buffer.alloc(8))
    const settings = frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255]))
    const many = Buffer.concat(Array.from({ length: 500 }, () => Buffer.concat([ping, settings])))
    const flood = () => {
      while (!socket.destroyed && socket.write(many)) {}
    }
    socket.on('drain', flood)
    flood()
    await closed
  })
})
