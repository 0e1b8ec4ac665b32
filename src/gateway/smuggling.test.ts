/**
 * Requests that mean one thing to the gateway and another to the service behind it: a client that gets one through speaks to
 * that service as another user, or past the check. Sent over bare sockets, because no HTTP client would.
 * RFC 9112 §11.2; D-42.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)
const token = await pki.token()

const HOST = 'Host: gateway.example'
const AUTHORIZATION = `Authorization: Bearer ${token}`
const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: x\r\nx-latchkey-identity-id: admin\r\n\r\n'

const lines = (...given: readonly string[]) => `${given.join('\r\n')}\r\n\r\n`

describe('answered with 400, closed, and nothing of it reaches the upstream', () => {
  const post = (...fields: readonly string[]) =>
    lines('POST / HTTP/1.1', HOST, AUTHORIZATION, ...fields)
  const cases: Readonly<Record<string, string>> = {
    'a length and chunks': `${post('Content-Length: 6', 'Transfer-Encoding: chunked')}0\r\n\r\n${HIDDEN}`,
    'chunks and a length': `${post('Transfer-Encoding: chunked', 'Content-Length: 6')}0\r\n\r\n${HIDDEN}`,
    'two different lengths': `${post('Content-Length: 0', `Content-Length: ${HIDDEN.length}`)}${HIDDEN}`,
    'the same length twice': `${post('Content-Length: 2', 'Content-Length: 2')}ab`,
    'two lengths in one field': `${post('Content-Length: 2, 2')}ab`,
    'a length with a sign': `${post('Content-Length: +2')}ab`,
    'a length below zero': post('Content-Length: -1'),
    'a length in hex': `${post('Content-Length: 0x2')}ab`,
    'a length of nothing': post('Content-Length:'),
    'a length beyond all numbers': post('Content-Length: 99999999999999999999'),
    'a coding that is not chunked': `${post('Transfer-Encoding: xchunked')}0\r\n\r\n`,
    'a coding before chunked': `${post('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
    'a coding behind chunked': `${post('Transfer-Encoding: chunked, identity')}0\r\n\r\n`,
    'chunked twice in one field': `${post('Transfer-Encoding: chunked, chunked')}0\r\n\r\n`,
    'chunked in two fields': `${post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    'identity and chunked in two fields': `${post('Transfer-Encoding: identity', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    'chunked in quotes': `${post('Transfer-Encoding: "chunked"')}0\r\n\r\n`,
    'a space before the colon': `${post('Transfer-Encoding : chunked')}0\r\n\r\n`,
    'a tab before the colon': `${post('Content-Length\t: 2')}ab`,
    'a folded field': post('X-Own: a', ' b', 'Content-Length: 0'),
    'a folded credential': lines('GET / HTTP/1.1', HOST, 'Authorization: Bearer', ` ${token}`),
    'a bare line feed between fields': `GET / HTTP/1.1\n${HOST}\n${AUTHORIZATION}\n\n`,
    'a bare line feed behind one field': `GET / HTTP/1.1\r\n${HOST}\nX-A: b\r\n${AUTHORIZATION}\r\n\r\n`,
    'a bare carriage return in a value': post('X-Own: a\rX-Latchkey-Identity-Id: admin'),
    'a zero byte in a value': post('X-Own: a\0b'),
    'a zero byte in a name': post('X-O\0wn: a'),
    'a field without a colon': post('X-Own'),
    'a field without a name': post(': value'),
    'a name with a space': post('X Own: a'),
    'two hosts': lines('GET / HTTP/1.1', HOST, 'Host: other.example', AUTHORIZATION),
    'no host': lines('GET / HTTP/1.1', AUTHORIZATION),
    'a host that is not valid': lines('GET / HTTP/1.1', 'Host: a b', AUTHORIZATION),
    'a host with a user': lines('GET / HTTP/1.1', 'Host: a@b', AUTHORIZATION),
    'an empty host': lines('GET / HTTP/1.1', 'Host:', AUTHORIZATION),
    'a target with a scheme and a host': lines(
      'GET http://other.example/ HTTP/1.1',
      HOST,
      AUTHORIZATION,
    ),
    'a target of another scheme': lines('GET file:///etc/passwd HTTP/1.1', HOST, AUTHORIZATION),
    'a target that is a star': lines('OPTIONS * HTTP/1.1', HOST, AUTHORIZATION),
    'a target without a slash': lines('GET index.html HTTP/1.1', HOST, AUTHORIZATION),
    'a target with a fragment': lines('GET /a#b HTTP/1.1', HOST, AUTHORIZATION),
    'a target with a space': lines('GET /a b HTTP/1.1', HOST, AUTHORIZATION),
    'a target with bytes that are not characters': lines(
      'GET /\u00e9 HTTP/1.1',
      HOST,
      AUTHORIZATION,
    ),
    'HTTP/1.0': lines('GET / HTTP/1.0', HOST, AUTHORIZATION),
    'HTTP/0.9': 'GET /\r\n\r\n',
    'HTTP/2 without TLS saying so': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a method that is not valid': lines('G\u00cbT / HTTP/1.1', HOST, AUTHORIZATION),
    'two bearer tokens': lines('GET / HTTP/1.1', HOST, AUTHORIZATION, AUTHORIZATION),
    'two bearer tokens in one field': lines(
      'GET / HTTP/1.1',
      HOST,
      `${AUTHORIZATION}, Bearer ${token}`,
    ),
    'a bearer token and a zt-session': lines(
      'GET / HTTP/1.1',
      HOST,
      AUTHORIZATION,
      'zt-session: a',
    ),
    'two zt-sessions': lines('GET / HTTP/1.1', HOST, 'zt-session: a', 'zt-session: b'),
    'an empty bearer token': lines('GET / HTTP/1.1', HOST, 'Authorization: Bearer '),
    'a bearer token and a basic one': lines(
      'GET / HTTP/1.1',
      HOST,
      AUTHORIZATION,
      'Authorization: Basic YTpi',
    ),
    // Behind this a server would read requests that were never checked.
    'a way out to HTTP/2': lines(
      'GET / HTTP/1.1',
      HOST,
      AUTHORIZATION,
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    ),
  }
  for (const [what, text] of Object.entries(cases)) {
    test(what, async (t) => {
      const { connect, upstream } = await startEdge(t, pki, alice)
      const { send, reply, closed } = await connect()
      send(Buffer.from(text, 'latin1'))
      const answer = await reply()
      assert.equal(answer?.status, 400)
      assert.equal(answer.json().error.code, 'BAD_REQUEST')
      assert.equal(answer.json().error.requestId, answer.header('x-request-id'))
      assert.equal(answer.text.includes(token), false)
      await closed
      assert.equal(await reply(), undefined)
      assert.equal(upstream.received(), '')
    })
  }
})

test('fields beyond 32 KiB are refused with 431', async (t) => {
  const { connect, upstream } = await startEdge(t, pki, alice)
  const { send, reply, closed } = await connect()
  send(lines('GET / HTTP/1.1', HOST, AUTHORIZATION, `X-Own: ${'x'.repeat(33 * 1024)}`))
  assert.equal((await reply())?.status, 431)
  await closed
  assert.equal(upstream.received(), '')
})

// Node's own limit drops what is beyond two thousand fields without a word, a second credential for one.
test('a second credential behind thousands of fields is seen', async (t) => {
  const { connect, upstream } = await startEdge(t, pki, alice)
  const { send, reply } = await connect()
  const many = Array.from({ length: 3_000 }, () => 'a:')
  send(lines('GET / HTTP/1.1', HOST, AUTHORIZATION, ...many, 'zt-session: a'))
  assert.equal((await reply())?.status, 400)
  assert.equal(upstream.received(), '')
})

test('CONNECT is refused with 405 and makes no tunnel', async (t) => {
  const { connect, upstream } = await startEdge(t, pki, alice)
  const { send, reply, closed } = await connect()
  send(`${lines('CONNECT 127.0.0.1:22 HTTP/1.1', HOST, AUTHORIZATION)}${HIDDEN}`)
  const answer = await reply()
  assert.equal(answer?.status, 405)
  assert.equal(answer.json().error.code, 'METHOD_NOT_ALLOWED')
  await closed
  assert.equal(upstream.received(), '')
})

describe('a body is a body', () => {
  test('also when it looks like a request', async (t) => {
    const { request, upstream } = await startEdge(t, pki, alice)
    const { reply } = await request(
      ['POST / HTTP/1.1', HOST, `Content-Length: ${HIDDEN.length}`],
      HIDDEN,
    )
    assert.equal((await reply())?.status, 200)
    assert.deepEqual(
      upstream.requests.map(({ target, body }) => ({ target, body })),
      [{ target: '/', body: HIDDEN }],
    )
  })

  test('also of a GET', async (t) => {
    const { request, upstream } = await startEdge(t, pki, alice)
    const { reply } = await request(
      ['GET / HTTP/1.1', HOST, `Content-Length: ${HIDDEN.length}`],
      HIDDEN,
    )
    assert.equal((await reply())?.status, 200)
    assert.equal(upstream.requests.length, 1)
    assert.equal(upstream.requests[0]?.body, HIDDEN)
  })

  test('and what comes behind it is checked for itself', async (t) => {
    const { request, upstream } = await startEdge(t, pki, alice)
    const { reply } = await request(['POST / HTTP/1.1', HOST, 'Content-Length: 2'], `ab${HIDDEN}`)
    assert.equal((await reply())?.status, 200)
    assert.equal((await reply())?.status, 401)
    assert.equal(upstream.requests.length, 1)
  })

  test('and one that a refused request brings is not taken for the next request', async (t) => {
    const { connect, upstream } = await startEdge(t, pki, alice)
    const { send, reply, closed } = await connect()
    const inner = lines('GET /inner HTTP/1.1', HOST, AUTHORIZATION)
    send(lines('POST / HTTP/1.1', HOST, `Content-Length: ${inner.length + 1}`) + inner)
    assert.equal((await reply())?.status, 401)
    await closed
    assert.equal(await reply(), undefined)
    assert.equal(upstream.received(), '')
  })

  for (const [what, chunks] of Object.entries({
    'a chunk size that is not valid': 'zz\r\nab\r\n0\r\n\r\n',
    'a chunk size with a sign': '+2\r\nab\r\n0\r\n\r\n',
    'a chunk size in hex with a prefix': '0x2\r\nab\r\n0\r\n\r\n',
    'a chunk that is longer than it says': `1\r\nab${HIDDEN}\r\n0\r\n\r\n`,
    'chunks with bare line feeds': `2\nab\n0\n\n${HIDDEN}`,
    'a chunk size beyond all numbers': 'ffffffffffffffffff\r\nab\r\n0\r\n\r\n',
  })) {
    test(`${what} ends the connection, and the upstream sees no second request`, async (t) => {
      const { request, upstream } = await startEdge(t, pki, alice)
      const { closed } = await request(
        ['POST / HTTP/1.1', HOST, 'Transfer-Encoding: chunked'],
        chunks,
      )
      await closed
      assert.ok(!upstream.received().includes('/hidden'))
      assert.ok(upstream.requests.length === 0)
    })
  }
})

describe('a forged identity', () => {
  const forged = [
    'X-Latchkey-Identity-Id: admin',
    'x_latchkey_identity_id: admin',
    'X-Latchkey_Session-Id: admin',
    'x.latchkey.identity.id: admin',
    'X-Forwarded-For: admin',
    'x_forwarded_for: admin',
    'Forwarded: for=admin',
    'X-Request-Id: admin',
  ]
  test('never reaches the upstream, whatever its spelling', async (t) => {
    const { request, upstream } = await startEdge(t, pki, alice)
    const { reply } = await request(['GET / HTTP/1.1', HOST, ...forged])
    assert.equal((await reply())?.status, 200)
    assert.equal(upstream.received().includes('admin'), false)
    assert.deepEqual(upstream.requests[0]?.values('x-latchkey-identity-id'), [ALICE.identityId])
  })

  test('cannot be had by declaring the true one to be for us alone', async (t) => {
    const { request, upstream } = await startEdge(t, pki, alice)
    const { reply } = await request([
      'GET / HTTP/1.1',
      HOST,
      'Connection: x-latchkey-identity-id, x-latchkey-session-id, x-forwarded-for, host',
    ])
    assert.equal((await reply())?.status, 200)
    assert.deepEqual(upstream.requests[0]?.values('x-latchkey-identity-id'), [ALICE.identityId])
    assert.deepEqual(upstream.requests[0]?.values('connection'), ['close'])
  })

  test('a credential in another spelling is neither taken nor passed on', async (t) => {
    const { connect, request, upstream } = await startEdge(t, pki, alice)
    const bare = await connect()
    bare.send(lines('GET / HTTP/1.1', HOST, `zt_session: ${'a'.repeat(43)}`))
    assert.equal((await bare.reply())?.status, 401)
    const { reply } = await request(['GET / HTTP/1.1', HOST, `zt_session: ${'a'.repeat(43)}`])
    assert.equal((await reply())?.status, 200)
    assert.equal(upstream.received().includes('a'.repeat(43)), false)
  })
})
