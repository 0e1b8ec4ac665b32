/**
 * The limits of D-44 hold before a body is buffered: sizes of bodies and headers, the times they may take, the depth
 * of JSON. R082.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { connectRaw, type RawConnection, type RawReply } from '../../support/edge/raw-connection.ts'
import { answerOf, beginLogin, logIn } from '../../support/login/login.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const KIB = 1024
const MIB = 1024 * KIB
const FORM = 'Content-Type: application/x-www-form-urlencoded'
const JSON_TYPE = 'Content-Type: application/json'

async function open(t: TestContext, service: Service): Promise<RawConnection> {
  const connection = await connectRaw(service)
  t.after(() => connection.socket.destroy())
  return connection
}

function head(service: Service, line: string, ...fields: readonly string[]): string {
  const host = `Host: ${new URL(service.baseUrl).host}`
  return `${[`${line} HTTP/1.1`, host, ...fields].join('\r\n')}\r\n\r\n`
}

/** A refusal that ends the connection, in the words of the route. */
async function assertRefused(
  connection: RawConnection,
  status: number,
  code: string,
): Promise<RawReply> {
  const reply = await connection.reply()
  assert.equal(reply?.status, status)
  const { error } = reply.json()
  assert.equal(error.code ?? error, code)
  assert.equal(reply.header('connection'), 'close')
  await connection.closed
  return reply
}

test('bodies', async (t) => {
  // Attack: a stranger makes the service hold or wait for as much as he likes to send.
  const service = await startService(t)

  for (const [line, type, length, code] of [
    ['POST /oidc/authorization', FORM, 2 * MIB, 'invalid_request'],
    ['POST /oidc/authorization', FORM, 64 * KIB + 1, 'invalid_request'],
    ['POST /oidc/token', FORM, 2 * MIB, 'invalid_request'],
    ['POST /oidc/login/username', JSON_TYPE, 2 * MIB, 'REQUEST_ENTITY_TOO_LARGE'],
    ['POST /oidc/login/username', JSON_TYPE, 64 * KIB + 1, 'REQUEST_ENTITY_TOO_LARGE'],
    ['POST /oidc/login/password', FORM, 64 * KIB + 1, 'REQUEST_ENTITY_TOO_LARGE'],
  ] as const) {
    await t.test(
      `${line} refuses an announced ${length} bytes before one has arrived`,
      async (t) => {
        const connection = await open(t, service)
        connection.send(head(service, line, type, `Content-Length: ${length}`))
        await assertRefused(connection, 413, code)
      },
    )
  }

  for (const [line, type, limit, code] of [
    ['POST /oidc/authorization', FORM, 64 * KIB, 'invalid_request'],
    ['POST /oidc/token', FORM, 64 * KIB, 'invalid_request'],
    ['POST /oidc/login/username', JSON_TYPE, 64 * KIB, 'REQUEST_ENTITY_TOO_LARGE'],
    ['POST /oidc/login/totp', FORM, 64 * KIB, 'REQUEST_ENTITY_TOO_LARGE'],
    ['POST /edge/client/v1/authenticate', JSON_TYPE, 64 * KIB, 'REQUEST_ENTITY_TOO_LARGE'],
    ['POST /edge/client/v1/enroll/ott', JSON_TYPE, 64 * KIB, 'REQUEST_ENTITY_TOO_LARGE'],
  ] as const) {
    await t.test(
      `${line} refuses a chunked body beyond ${limit} bytes, though it goes on`,
      async (t) => {
        const connection = await open(t, service)
        connection.send(head(service, line, type, 'Transfer-Encoding: chunked'))
        const chunk = 'x'.repeat(16 * KIB)
        // The chunk that would end it never comes.
        for (let sent = 0; sent <= limit; sent += chunk.length) {
          connection.send(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
        }
        await assertRefused(connection, 413, code)
      },
    )
  }

  await t.test('a login of exactly 64 KiB is taken', async () => {
    const { authRequestId } = await beginLogin(service)
    const bare = JSON.stringify({ authRequestId, ...ADMIN, more: '' }).length
    const json = { authRequestId, ...ADMIN, more: 'x'.repeat(64 * KIB - bare) }
    assert.equal(JSON.stringify(json).length, 64 * KIB)
    assert.ok(answerOf(await service.call('/oidc/login/username', { json })).get('code'))
  })

  for (const [title, line, status, code] of [
    ['nobody knows', 'POST /nothing', 404, 'NOT_FOUND'],
    ['that does not take it', 'PUT /oidc/token', 405, 'invalid_request'],
    ['that needs a session', 'GET /edge/client/v1/current-identity', 401, 'UNAUTHORIZED'],
  ] as const) {
    await t.test(`an address ${title} says so before it has read a body`, async (t) => {
      const connection = await open(t, service)
      connection.send(head(service, line, JSON_TYPE, `Content-Length: ${2 * MIB}`))
      const reply = await connection.reply()
      assert.equal(reply?.status, status)
      const { error } = reply.json()
      assert.equal(error.code ?? error, code)
    })
  }

  for (const [title, fields] of [
    ['a length and chunks', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 5', 'Content-Length: 6']],
    ['a negative length', ['Content-Length: -5']],
    ['a length that is no number', ['Content-Length: 5x']],
    ['an unknown transfer coding last', ['Transfer-Encoding: chunked, gzip']],
  ] as const) {
    // Attack: two servers in a row that see different ends of a request see different requests.
    await t.test(`${title}: 400, and the connection ends`, async (t) => {
      const connection = await open(t, service)
      connection.send(`${head(service, 'POST /oidc/token', FORM, ...fields)}0\r\n\r\n`)
      await assertRefused(connection, 400, 'BAD_REQUEST')
    })
  }

  await t.test('JSON is refused when it is nested too deeply, however small', async () => {
    const { authRequestId } = await beginLogin(service)
    const nested = (depth: number) => {
      const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`
      const body = JSON.stringify({ authRequestId, ...ADMIN }).replace(/\}$/, `,"more":${deep}}`)
      return service.call('/oidc/login/username', {
        body,
        headers: { 'content-type': 'application/json' },
      })
    }
    for (const depth of [32, 1_000, 30_000]) {
      const reply = await nested(depth)
      assert.equal(reply.status, 400)
      assert.equal(reply.json().error.code, 'COULD_NOT_PARSE_BODY')
    }
    assert.ok(answerOf(await nested(16)).get('code'))
  })
})

test('headers', async (t) => {
  const service = await startService(t)

  for (const [title, message] of [
    ['one field', head(service, 'GET /version', `X-Long: ${'x'.repeat(33 * KIB)}`)],
    [
      'many fields',
      head(service, 'GET /version', ...Array.from({ length: 3_000 }, (_, i) => `X-${i}: 12345`)),
    ],
    ['the address', head(service, `GET /version?${'x'.repeat(33 * KIB)}`)],
  ] as const) {
    await t.test(`over 32 KiB in ${title} are 431`, async (t) => {
      assert.ok(message.length > 32 * KIB)
      const connection = await open(t, service)
      connection.send(message)
      await assertRefused(connection, 431, 'HEADERS_TOO_LARGE')
    })
  }

  // Attack: fields beyond the number that a server keeps are dropped, and with them the one that a proxy adds last.
  await t.test('many tiny fields are 431, and none is dropped without a word', async (t) => {
    const { access_token } = await logIn(service)
    const ask = async (count: number) => {
      const tiny = Array.from({ length: count }, () => 'a:1')
      const last = `Authorization: Bearer ${access_token}`
      const connection = await open(t, service)
      connection.send(head(service, 'GET /edge/client/v1/current-identity', ...tiny, last))
      return connection
    }
    assert.equal((await (await ask(200)).reply())?.status, 200)
    for (const count of [2_000, 4_000]) {
      assert.ok('a:1\r\n'.length * count < 32 * KIB)
      await assertRefused(await ask(count), 431, 'HEADERS_TOO_LARGE')
    }
  })

  await t.test('that never end are refused at 32 KiB', async (t) => {
    const connection = await open(t, service)
    connection.send(head(service, 'GET /version').slice(0, -2))
    for (let i = 0; i < 33; i++) connection.send(`X-${i}: ${'x'.repeat(KIB)}\r\n`)
    await assertRefused(connection, 431, 'HEADERS_TOO_LARGE')
  })

  await t.test('of 30 KiB are taken', async (t) => {
    const connection = await open(t, service)
    connection.send(head(service, 'GET /version', `X-Long: ${'x'.repeat(30 * KIB)}`))
    assert.equal((await connection.reply())?.status, 200)
  })

  for (const [title, bytes] of [
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['bytes', Buffer.from([0x16, 0x03, 0x01, 0, 0, 0x0d, 0x0a])],
    ['a line break inside a value', 'GET /version HTTP/1.1\r\nHost: x\r\nX-A: a\rb\r\n\r\n'],
    ['a NUL inside a value', 'GET /version HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
    ['a space before the colon', 'GET /version HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['another version of HTTP', 'GET /version HTTP/3.0\r\nHost: x\r\n\r\n'],
  ] as const) {
    await t.test(`${title}: 400`, async (t) => {
      const connection = await open(t, service)
      connection.send(bytes)
      await assertRefused(connection, 400, 'BAD_REQUEST')
    })
  }

  await t.test('an address that cannot be decoded is 400', async (t) => {
    const connection = await open(t, service)
    connection.send(head(service, 'GET /oidc/%zz'))
    const reply = await connection.reply()
    assert.equal(reply?.status, 400)
    assert.equal(reply.json().error.code, 'BAD_REQUEST')
  })
})

test('times', async (t) => {
  // Attack: many connections that send a byte now and then hold the service's memory and sockets for ever.
  const service = await startService(t, {
    config: {
      web: [
        {
          name: 'hasty',
          bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
          options: { timeouts: { header: '1s', request: '2s', idle: '1s' } },
          apis: [{ binding: 'edge-client' }],
        },
      ],
    },
  })

  const login = head(service, 'POST /oidc/login/username', JSON_TYPE, 'Content-Length: 100')
  const chunked = head(service, 'POST /oidc/token', FORM, 'Transfer-Encoding: chunked')
  const slow = {
    'a request of which nothing comes': '',
    'headers that do not end': 'GET /version HTTP/1.1\r\nHost: ',
    'a body that does not come': login,
    'a body that does not end': `${login}{"authRequestId":`,
    'a chunked body that does not end': `${chunked}5\r\nhello\r\n`,
  }
  // At the same time, because each one takes its seconds.
  const waiting = Object.entries(slow).map(async ([title, sent]) => {
    const connection = await open(t, service)
    connection.send(sent)
    return { title, connection }
  })
  // And those of which a little comes, again and again: moving is not enough, the whole has its time.
  const dripping = {
    'headers that come byte by byte': ['GET /version HTTP/1.1\r\nHost: ', 'x'],
    'a body that comes byte by byte': [login, ' '],
    'a chunked body that comes byte by byte': [chunked, '1\r\nx\r\n'],
  } as const
  for (const [title, [begun, drop]] of Object.entries(dripping)) {
    waiting.push(
      open(t, service).then((connection) => {
        connection.send(begun)
        const tap = setInterval(() => connection.send(drop), 100)
        void connection.closed.then(() => clearInterval(tap))
        return { title, connection }
      }),
    )
  }
  const idle = await open(t, service)
  idle.send(head(service, 'GET /version'))
  assert.equal((await idle.reply())?.status, 200)

  for (const { title, connection } of await Promise.all(waiting)) {
    await t.test(`${title}: 408, with a request id that is in the log`, async () => {
      const reply = await assertRefused(connection, 408, 'REQUEST_TIMEOUT')
      const id = reply.header('x-request-id')
      assert.match(id ?? '', /^\w{10,}$/)
      assert.equal(reply.json().error.requestId, id)
      const lines = service.log.filter((line) => line.requestId === id)
      assert.deepEqual(
        lines.map(({ status, code, msg }) => ({ status, code, msg })),
        [{ status: 408, code: 'REQUEST_TIMEOUT', msg: 'request' }],
      )
    })
  }

  await t.test('a connection without its next request is closed without a word', async () => {
    assert.equal(await idle.reply(), undefined)
  })

  await t.test('still serves fast clients', async () => {
    assert.equal((await service.call('/version')).status, 200)
  })
})
