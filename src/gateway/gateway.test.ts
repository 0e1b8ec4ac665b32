/** Requests through the gateway and back, and requests that are not let through. D-42; SPEC Other errors. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import type { MadeCertificate } from '../../test/support/certificates/openssl.ts'
import { startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { waitFor } from '../../test/support/process/child-service.ts'
import { milliseconds, seconds } from '../base/time/duration.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

const HOST = 'host: gateway.example'
const get = (token: string, target = '/') =>
  `GET ${target} HTTP/1.1\r\n${HOST}\r\nauthorization: Bearer ${token}\r\n\r\n`

test('a request reaches the upstream with the identity of the caller and without a credential, and its response comes back', async (t) => {
  const { connect, upstream } = await startEdge(t, pki, alice)
  const { send, reply } = await connect()
  const token = await pki.token()
  send(
    `PUT /a/b;c=%2F?q=%20x&&y HTTP/1.1\r\n${HOST}\r\nAuthorization: Bearer ${token}\r\nX-Own: 1\r\n` +
      'Cookie: k=v\r\nx-latchkey-identity-id: admin\r\ncontent-length: 5\r\n\r\nhello',
  )
  const answer = await reply()
  assert.equal(answer?.status, 200)
  const [seen] = upstream.requests
  assert.ok(seen)
  assert.equal(seen.method, 'PUT')
  assert.equal(seen.target, '/a/b;c=%2F?q=%20x&&y')
  assert.equal(seen.body, 'hello')
  assert.deepEqual(seen.values('x-latchkey-identity-id'), [ALICE.identityId])
  assert.deepEqual(seen.values('x-latchkey-session-id'), [ALICE.sessionId])
  assert.deepEqual(seen.values('x-forwarded-for'), ['127.0.0.1'])
  assert.deepEqual(seen.values('x-forwarded-proto'), ['https'])
  assert.deepEqual(seen.values('x-forwarded-host'), ['gateway.example'])
  assert.deepEqual(seen.values('x-request-id'), [answer.header('x-request-id')])
  assert.deepEqual(seen.values('host'), [`127.0.0.1:${upstream.port}`])
  assert.deepEqual(seen.values('cookie'), ['k=v'])
  assert.deepEqual(seen.values('x-own'), ['1'])
  assert.equal(upstream.received().includes(token), false)
  assert.equal(upstream.received().toLowerCase().includes('authorization'), false)
})

test('one connection carries many requests, also sent at once, each with its own check', async (t) => {
  const { connect, upstream } = await startEdge(t, pki, alice)
  const { send, reply } = await connect()
  const token = await pki.token()
  send(`${get(token, '/1')}${get('not-a-token', '/2')}${get(token, '/3')}`)
  assert.equal((await reply())?.status, 200)
  assert.equal((await reply())?.status, 401)
  assert.equal((await reply())?.status, 200)
  assert.deepEqual(
    upstream.requests.map(({ target }) => target),
    ['/1', '/3'],
  )
})

test('a body of unknown length passes in chunks of our own; trailers do not', async (t) => {
  const { request, upstream } = await startEdge(t, pki, alice)
  const { reply } = await request(
    ['POST / HTTP/1.1', HOST, 'transfer-encoding: chunked', 'trailer: x-latchkey-identity-id'],
    '3;x=y\r\nabc\r\n4\r\ndefg\r\n0\r\nx-latchkey-identity-id: admin\r\n\r\n',
  )
  assert.equal((await reply())?.status, 200)
  assert.equal(upstream.requests[0]?.body, 'abcdefg')
  assert.equal(upstream.received().includes('admin'), false)
  assert.equal(upstream.received().includes('x=y'), false)
})

test('a request without a body says so to the upstream', async (t) => {
  const { request, upstream } = await startEdge(t, pki, alice)
  for (const method of ['POST', 'GET', 'DELETE']) {
    assert.equal((await (await request([`${method} / HTTP/1.1`, HOST])).reply())?.status, 200)
  }
  const [post, ...others] = upstream.requests
  assert.deepEqual(post?.values('content-length'), ['0'])
  for (const one of [post, ...others]) assert.deepEqual(one?.values('transfer-encoding'), [])
})

test('a client that expects 100-continue gets it once it is accepted', async (t) => {
  const { connect, upstream } = await startEdge(t, pki, alice)
  const { send, reply } = await connect()
  const head = (token: string) =>
    `POST / HTTP/1.1\r\n${HOST}\r\nauthorization: Bearer ${token}\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n`
  send(head(await pki.token()))
  assert.equal((await reply())?.status, 100)
  send('ok')
  assert.equal((await reply())?.status, 200)
  assert.deepEqual(upstream.requests[0]?.values('expect'), [])

  const refused = await connect()
  refused.send(head('no'))
  assert.equal((await refused.reply())?.status, 401)
  await refused.closed
})

test('the answer keeps its status, its fields and its length, and loses what was for us', async (t) => {
  const { request } = await startEdge(t, pki, alice, {
    answer: (_, response) => {
      response.writeHead(418, [
        ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Content-Length', '3'],
        ...[
          'Keep-Alive',
          'timeout=9',
          'X-Request-Id',
          'upstream',
          'Connection',
          'X-Hop',
          'X-Hop',
          '1',
        ],
      ])
      response.end('tea')
    },
  })
  const answer = await (await request(['GET / HTTP/1.1', HOST])).reply()
  assert.equal(answer?.status, 418)
  assert.equal(answer.text, 'tea')
  const values = (name: string) => answer.fields.filter(([n]) => n === name).map(([, v]) => v)
  assert.deepEqual(values('set-cookie'), ['a=1', 'b=2'])
  assert.deepEqual(values('x-hop'), [])
  assert.equal(values('x-request-id').length, 1)
  assert.notDeepEqual(values('x-request-id'), ['upstream'])
  assert.notDeepEqual(values('keep-alive'), ['timeout=9'])
})

test('HEAD and 304 pass without a body', async (t) => {
  const { connect } = await startEdge(t, pki, alice, {
    answer: (request, response) => {
      response.writeHead(request.method === 'HEAD' ? 200 : 304, { etag: '"x"' })
      response.end()
    },
  })
  const { send, reply } = await connect()
  const token = await pki.token()
  send(get(token).replace('GET', 'HEAD'))
  assert.equal((await reply())?.status, 200)
  send(get(token))
  assert.equal((await reply())?.status, 304)
})

describe('requests that are not let through', () => {
  interface Case {
    readonly shown?: () => Promise<MadeCertificate | 'nothing'>
    readonly token?: () => Promise<string | undefined>
    readonly status: number
    readonly code: string
    readonly reason: string
    readonly message?: string
    readonly challenge?: RegExp
  }
  const cases: Readonly<Record<string, Case>> = {
    'without a certificate (R102)': {
      shown: async () => 'nothing',
      status: 403,
      code: 'FORBIDDEN',
      reason: 'no-certificate',
      message: 'no client certificate was presented',
    },
    'with neither (R102)': {
      shown: async () => 'nothing',
      token: async () => undefined,
      status: 403,
      code: 'FORBIDDEN',
      reason: 'no-certificate',
      message: 'no client certificate was presented',
    },
    'without a token (R102)': {
      token: async () => undefined,
      status: 401,
      code: 'UNAUTHORIZED',
      reason: 'no-token',
      challenge: /^zt-session realm="zt-session", error="missing".*Bearer realm="service-oidc"/,
    },
    'with the certificate of another session (R102)': {
      shown: () => pki.sessionCertificate({ ...ALICE, sessionId: 'other' }),
      status: 403,
      code: 'FORBIDDEN',
      reason: 'certificate-of-other-session',
      message: 'the client certificate does not belong to this session',
    },
    'with a certificate of his own making': {
      shown: async () => pki.openssl.makeLeaf(await pki.openssl.makeCa()),
      status: 403,
      code: 'FORBIDDEN',
      reason: 'certificate-untrusted',
    },
    'with an expired certificate': {
      shown: () => pki.sessionCertificate(ALICE, { notAfter: seconds(-60) }),
      status: 403,
      code: 'FORBIDDEN',
      reason: 'certificate-expired',
    },
    'with a token that is not valid': {
      token: async () => 'Bearer abc',
      status: 401,
      code: 'UNAUTHORIZED',
      reason: 'token-invalid',
      challenge: /^Bearer realm="service-oidc", error="invalid"/,
    },
    'with an expired token': {
      token: async () => `Bearer ${await pki.token({ exp: 1_600_000_000 })}`,
      status: 401,
      code: 'UNAUTHORIZED',
      reason: 'token-expired',
      challenge: /^Bearer realm="service-oidc", error="expired"/,
    },
    'with another scheme': {
      token: async () => 'Basic YWRtaW46YWRtaW4=',
      status: 401,
      code: 'UNAUTHORIZED',
      reason: 'no-token',
    },
  }
  for (const [who, one] of Object.entries(cases)) {
    const { shown, token, status, code, reason, message, challenge } = one
    test(`${who}: ${status}, and the reason is in the log alone`, async (t) => {
      const { connect, upstream, log } = await startEdge(t, pki, alice)
      const { send, reply } = await connect(await shown?.())
      const value = token === undefined ? `Bearer ${await pki.token()}` : await token()
      const authorization = value === undefined ? '' : `authorization: ${value}\r\n`
      send(`GET /secret?k=v HTTP/1.1\r\n${HOST}\r\n${authorization}\r\n`)
      const answer = await reply()
      assert.equal(answer?.status, status)
      const { error } = answer.json()
      assert.equal(error.code, code)
      if (message !== undefined) assert.equal(error.message, message)
      assert.equal(error.requestId, answer.header('x-request-id'))
      assert.equal(answer.text.includes(reason), false)
      if (challenge !== undefined) assert.match(answer.header('www-authenticate') ?? '', challenge)
      assert.equal(answer.header('cache-control'), 'no-store')
      assert.equal(upstream.received(), '')
      const line = () => log.find(({ msg }) => msg === 'request')
      await waitFor(
        () => line() !== undefined,
        () => 'the line of the request',
      )
      assert.equal(line().reason, reason)
      assert.equal(line().path, '/secret')
      assert.equal(line().requestId, error.requestId)
    })
  }

  test('with a zt-session that is not active: 401 in its own realm', async (t) => {
    const { connect } = await startEdge(t, pki, alice)
    const { send, reply } = await connect()
    send(`GET / HTTP/1.1\r\n${HOST}\r\nzt-session: ${'a'.repeat(43)}\r\n\r\n`)
    const answer = await reply()
    assert.equal(answer?.status, 401)
    assert.match(answer.header('www-authenticate') ?? '', /^zt-session .*error="invalid"/)
  })
})

describe('when the upstream', () => {
  test('is not there: 502', async (t) => {
    const { request, log } = await startEdge(t, pki, alice, { upstreamPort: 1 })
    const answer = await (await request(['GET / HTTP/1.1', HOST])).reply()
    assert.equal(answer?.status, 502)
    assert.equal(answer.json().error.code, 'BAD_GATEWAY')
    await waitFor(
      () => log.some(({ status, why }) => status === 502 && /ECONNREFUSED/.test(why)),
      () => 'the line of the request',
    )
  })

  test('does not answer in time: 504', async (t) => {
    const { request, upstream } = await startEdge(t, pki, alice, {
      answer: () => undefined,
      times: { upload: seconds(60), answer: milliseconds(50) },
    })
    const answer = await (await request(['GET / HTTP/1.1', HOST])).reply()
    assert.equal(answer?.status, 504)
    assert.equal(answer.json().error.code, 'GATEWAY_TIMEOUT')
    await waitFor(
      () => upstream.openSockets() === 0,
      () => 'the end of the call',
    )
  })

  for (const [what, text] of Object.entries({
    'answers with no HTTP': 'hello\r\n\r\n',
    'closes without an answer': '',
    'says its length twice': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    'says a length and chunks':
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'leaves HTTP although no client asked for it':
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    'answers with endless fields': `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
  })) {
    test(`${what}: 502`, async (t) => {
      const { request } = await startEdge(t, pki, alice, {
        answer: (message) => void message.socket.end(text),
      })
      const answer = await (await request(['GET / HTTP/1.1', HOST])).reply()
      assert.equal(answer?.status, 502)
    })
  }

  test('is cut in the middle of its answer, the client sees it cut', async (t) => {
    const { request } = await startEdge(t, pki, alice, {
      answer: (_, response) => {
        response.writeHead(200, { 'content-length': 100 })
        response.write('half')
        setTimeout(() => response.destroy(), 20)
      },
    })
    const { reply, closed } = await request(['GET / HTTP/1.1', HOST])
    assert.equal(await reply(), undefined)
    await closed
  })

  test('answers before the body has come, the answer passes and the connection ends', async (t) => {
    const { request } = await startEdge(t, pki, alice, {
      answer: (_, response) => {
        response.writeHead(413, { connection: 'close', 'content-length': 0 })
        response.end()
      },
    })
    const head = ['POST / HTTP/1.1', HOST, 'content-length: 1000000']
    const { reply, closed } = await request(head, 'x'.repeat(1_000))
    const answer = await reply()
    assert.equal(answer?.status, 413)
    assert.equal(answer.header('connection'), 'close')
    await closed
  })
})

test('a body that stands still is given up: 408', async (t) => {
  const { request, upstream } = await startEdge(t, pki, alice, {
    times: { upload: milliseconds(50), answer: seconds(60) },
  })
  const { reply } = await request(['POST / HTTP/1.1', HOST, 'content-length: 10'], 'half')
  assert.equal((await reply())?.status, 408)
  await waitFor(
    () => upstream.openSockets() === 0,
    () => 'the end of the call',
  )
})

test('a client that goes away takes its call to the upstream with it', async (t) => {
  const begun = Promise.withResolvers<void>()
  const { request, upstream } = await startEdge(t, pki, alice, { answer: () => begun.resolve() })
  const { socket } = await request(['GET / HTTP/1.1', HOST])
  await begun.promise
  socket.destroy()
  await waitFor(
    () => upstream.openSockets() === 0,
    () => 'the end of the call',
  )
})

test('neither side sends faster than the other takes', async (t) => {
  let sent = 0
  const piece = Buffer.alloc(256 * 1024)
  const { request } = await startEdge(t, pki, alice, {
    answer: (_, response) => {
      response.writeHead(200)
      const more = () => {
        while (sent < 1_000 * piece.length) {
          sent += piece.length
          if (!response.write(piece)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    },
  })
  const { socket } = await request(['GET / HTTP/1.1', HOST])
  await once(socket, 'data')
  socket.pause()
  // Until it stands still: buffers of sockets and streams, and no more.
  let before = -1
  await waitFor(
    async () => {
      const isStill = before === sent
      before = sent
      if (!isStill) await new Promise((resolve) => setTimeout(resolve, 200))
      return isStill
    },
    () => 'a stand-still',
  )
  assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes were taken for a client that reads nothing`)
})

test('a stop lets a running request finish, and takes no other', async (t) => {
  const begun = Promise.withResolvers<() => void>()
  const { request, connect, stop, url } = await startEdge(t, pki, alice, {
    answer: (_, response) => begun.resolve(() => response.end('done')),
  })
  const idle = await connect()
  const { reply } = await request(['GET / HTTP/1.1', HOST])
  const finish = await begun.promise
  const stopped = stop()
  await idle.closed
  finish()
  assert.equal((await reply())?.status, 200)
  await stopped
  await assert.rejects(connect(), url)
})
