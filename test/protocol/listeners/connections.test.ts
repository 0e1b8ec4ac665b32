/**
 * HTTP/1.1 on one connection: keep-alive, several requests in a row and in advance, HEAD, expectations; and the
 * request id of every answer, the same in its body and in its log line (D-39).
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRaw, type RawConnection } from '../../support/edge/raw-connection.ts'
import { logLines } from '../../support/monitoring/log-lines.ts'
import { type Service, startService } from '../../support/service.ts'

async function open(t: TestContext, service: Service): Promise<RawConnection> {
  const connection = await connectRaw(service)
  t.after(() => connection.socket.destroy())
  return connection
}

function request(service: Service, line: string, ...fields: readonly string[]): string {
  const host = `Host: ${new URL(service.baseUrl).host}`
  return `${[`${line} HTTP/1.1`, host, ...fields].join('\r\n')}\r\n\r\n`
}

test('one connection', async (t) => {
  const service = await startService(t)

  await t.test('serves one request after the other', async (t) => {
    const connection = await open(t, service)
    for (const [line, status] of [
      ['GET /version', 200],
      ['GET /edge/client/v1/current-identity', 401],
      ['GET /nothing', 404],
      ['DELETE /version', 405],
      ['GET /oidc/authorization', 400],
      ['GET /version', 200],
    ] as const) {
      connection.send(request(service, line))
      const reply = await connection.reply()
      assert.equal(reply?.status, status, line)
      assert.equal(reply.header('connection'), 'keep-alive')
    }
  })

  await t.test('serves requests that were sent in advance, in their order', async (t) => {
    const connection = await open(t, service)
    const body = 'grant_type=nonsense'
    connection.send(
      [
        request(service, 'GET /oidc/keys'),
        request(
          service,
          'POST /oidc/token',
          'Content-Type: application/x-www-form-urlencoded',
          `Content-Length: ${body.length}`,
        ) + body,
        request(service, 'GET /version'),
        request(service, 'GET /nothing', 'Connection: close'),
      ].join(''),
    )
    const replies = [
      await connection.reply(),
      await connection.reply(),
      await connection.reply(),
      await connection.reply(),
    ]
    assert.deepEqual(
      replies.map((reply) => reply?.status),
      [200, 400, 200, 404],
    )
    const [keys, token, version, nothing] = replies.map((reply) => reply?.json())
    assert.ok(Array.isArray(keys.keys))
    assert.equal(token.error, 'unsupported_grant_type')
    assert.ok('version' in version.data)
    assert.equal(nothing.error.code, 'NOT_FOUND')
    assert.equal(new Set(replies.map((reply) => reply?.header('x-request-id'))).size, 4)
    assert.equal(await connection.reply(), undefined)
  })

  await t.test('is used again by an ordinary client', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: service.ca })
    try {
      for (let i = 0; i < 5; i++) {
        assert.equal((await service.call('/version', { agent })).status, 200)
      }
      assert.equal(Object.values(agent.freeSockets).flat().length, 1)
    } finally {
      agent.destroy()
    }
  })

  await t.test('stays usable after an unread body', async (t) => {
    const connection = await open(t, service)
    const body = 'x'.repeat(1000)
    const type = 'Content-Type: text/plain'
    connection.send(request(service, 'POST /nothing', type, `Content-Length: 1000`) + body)
    assert.equal((await connection.reply())?.status, 404)
    connection.send(request(service, 'GET /version'))
    assert.equal((await connection.reply())?.status, 200)
  })

  await t.test('ends when the client asks for it, and after a request of HTTP/1.0', async (t) => {
    for (const message of [
      request(service, 'GET /version', 'Connection: close'),
      request(service, 'GET /version').replace('HTTP/1.1', 'HTTP/1.0'),
    ]) {
      const connection = await open(t, service)
      connection.send(message)
      const reply = await connection.reply()
      assert.equal(reply?.status, 200)
      assert.equal(reply.header('connection'), 'close')
      await connection.closed
    }
  })

  await t.test('does not turn into another protocol', async (t) => {
    const connection = await open(t, service)
    const fields = [
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABk',
    ]
    connection.send(request(service, 'GET /version', ...fields))
    assert.equal((await connection.reply())?.status, 200)
  })

  await t.test('ignores unknown expectations', async (t) => {
    const connection = await open(t, service)
    connection.send(request(service, 'GET /version', 'Expect: the-unexpected'))
    const reply = await connection.reply()
    assert.equal(reply?.status, 200)
    assert.ok(reply.header('x-request-id'))
  })

  await t.test('that breaks off in the middle of a request is not a failure of ours', async (t) => {
    const type = 'Content-Type: application/json'
    const body = request(service, 'POST /oidc/login/username', type, 'Content-Length: 100')
    for (const sent of ['', 'GET /version HTT', body, `${body}{"authRequestId":`]) {
      for (const breakOff of ['end', 'destroy'] as const) {
        const connection = await open(t, service)
        connection.send(sent)
        await sleep(5)
        connection.socket[breakOff]()
        await connection.closed
      }
    }
    assert.equal((await service.call('/version')).status, 200)
    assert.deepEqual(
      service.log.filter(({ level }) => level >= 40),
      [],
    )
  })

  await t.test('answers HEAD as GET, without the body', async () => {
    for (const path of ['/version', '/oidc/keys', '/edge/client/v1/current-identity']) {
      const get = await service.call(path)
      const head = await service.call(path, { method: 'HEAD' })
      assert.equal(head.status, get.status)
      assert.equal(head.text, '')
      for (const name of ['content-type', 'cache-control', 'www-authenticate']) {
        assert.equal(head.headers[name], get.headers[name])
      }
    }
  })
})

test('every answer has a request id, in its header, its body and one log line (D-39)', async (t) => {
  const service = await startService(t)
  const host = new URL(service.baseUrl).host
  const form = 'Content-Type: application/x-www-form-urlencoded'
  const login = 'POST /oidc/login/username'
  const authorization = '/oidc/authorization?client_id=service&redirect_uri=http://localhost/'

  const answers: readonly (readonly [status: number, title: string, message: string])[] = [
    [200, 'a success', request(service, 'GET /version')],
    [204, 'a preflight', request(service, 'OPTIONS /oidc/keys', 'Origin: https://a.example')],
    [302, 'a redirect', request(service, `GET ${authorization}`)],
    [400, 'a refusal', request(service, 'GET /oidc/login/username')],
    [400, 'an OAuth error', request(service, 'POST /oidc/token')],
    [400, 'no HTTP', 'nonsense\r\n\r\n'],
    [400, 'no Host', 'GET /version HTTP/1.1\r\n\r\n'],
    [400, 'two Hosts', `GET /version HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\n\r\n`],
    [400, 'an undecodable address', request(service, 'GET /%ff')],
    [401, 'a missing credential', request(service, 'GET /edge/client/v1/current-identity')],
    [404, 'an unknown address', request(service, 'GET /nothing')],
    [405, 'a wrong method', request(service, 'DELETE /version')],
    [405, 'a method of WebDAV', request(service, 'PROPFIND /version')],
    [406, 'nothing acceptable', request(service, login, 'Accept: image/png')],
    [413, 'a large body', request(service, login, form, 'Content-Length: 2097152')],
    [415, 'a body of no use', `${request(service, login, 'Content-Length: 1')}x`],
    [421, 'a foreign Host', 'GET /oidc/keys HTTP/1.1\r\nHost: evil.example\r\n\r\n'],
    [431, 'large headers', request(service, 'GET /version', `X: ${'x'.repeat(33 * 1024)}`)],
  ]
  const ids = new Set<string>()
  for (const [status, title, message] of answers) {
    await t.test(`${status}: ${title}`, async (t) => {
      const connection = await open(t, service)
      connection.send(message)
      const reply = await connection.reply()
      assert.equal(reply?.status, status)
      const found = reply.fields.filter(([name]) => name === 'x-request-id')
      assert.equal(found.length, 1)
      const [[, id]] = found as [readonly [string, string]]
      assert.match(id, /^[a-z0-9]{10,}$/)
      assert.equal(ids.has(id), false)
      ids.add(id)

      const { error } = reply.text === '' || status === 200 ? { error: undefined } : reply.json()
      if (typeof error === 'object') assert.equal(error.requestId, id)
      const lines = await logLines(service, (line) => line.requestId === id)
      assert.deepEqual(
        lines.map((line) => [line.msg, line.status]),
        [['request', status]],
      )
    })
  }

  await t.test('an id that the caller sends is not taken', async () => {
    // Attack: a caller writes somebody else's id, or a line of his own, into the log.
    const planted = 'planted-by-the-caller'
    const reply = await service.call('/nothing', {
      headers: { 'x-request-id': planted, 'request-id': planted, 'x-correlation-id': planted },
    })
    assert.notEqual(reply.headers['x-request-id'], planted)
    assert.doesNotMatch(reply.text, /planted/)
    assert.doesNotMatch(JSON.stringify(service.log), /planted/)
  })
})
