/** The server of the service and the gateway, over real TLS connections. D-195, D-196, D-197. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import tls from 'node:tls'
import { eventually } from '../../test/support/eventually.ts'
import { answer, get, root, STATUSES, startHttpsServer } from '../../test/support/https-server.ts'
import { seconds } from '../base/time/duration.ts'

test('runs the requests of one connection one after the other, however many are pipelined', async (t) => {
  let running = 0
  let most = 0
  const { connect } = await startHttpsServer(t, ({ url = '' }, response) => {
    running += 1
    most = Math.max(most, running)
    setImmediate(() => {
      running -= 1
      answer(response, url)
    })
  })
  const connection = await connect()
  // Several TLS records, and requests that cross all of their boundaries.
  const count = 3_000
  connection.send(Array.from({ length: count }, (_, i) => get(`/${i}`)).join(''))
  for (let i = 0; i < count; i++) assert.equal((await connection.reply())?.text, `/${i}`)
  assert.equal(most, 1)
})

test('reads the whole body of a request that is pipelined after others', async (t) => {
  const { connect } = await startHttpsServer(t, (message, response) => {
    let length = 0
    message.on('data', (chunk) => {
      length += chunk.length
    })
    message.on('end', () => answer(response, String(length)))
  })
  const connection = await connect()
  const body = 'x'.repeat(300_000)
  const post = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  connection.send(`${get('/')}${post}${get('/')}${post}`)
  for (const length of [0, body.length, 0, body.length]) {
    assert.equal((await connection.reply())?.text, String(length))
  }
})

test('a body that has wholly arrived behind a request that is still running is read', async (t) => {
  const { connect } = await startHttpsServer(t, (message, response) => {
    let length = 0
    message.on('data', (chunk) => {
      length += chunk.length
    })
    message.on('end', () => setTimeout(() => answer(response, String(length)), 50))
  })
  const connection = await connect()
  const body = 'x'.repeat(5_000)
  const post = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  connection.send(`${get('/')}${post}`)
  for (const length of [0, body.length]) {
    assert.equal((await connection.reply())?.text, String(length))
  }
})

// Attack: requests sent ahead by a peer that reads nothing.
test('a peer that reads nothing starts few requests, and is cut', async (t) => {
  const text = 'x'.repeat(1_000_000)
  let started = 0
  const { connect, limit } = await startHttpsServer(
    t,
    (_, response) => {
      started += 1
      answer(response, text)
    },
    {
      timeouts: { header: seconds(60), request: seconds(60), idle: seconds(60), write: seconds(1) },
    },
  )
  const { socket } = await connect()
  socket.pause()
  socket.write(get('/').repeat(1_000))
  await eventually(() => (limit.load().open === 0 ? true : undefined), 'the end of the connection')
  // As many as fit into the buffers of the two kernels.
  assert.ok(started < 100, `${started} were started`)
})

test('does not cut a slow reader that keeps reading, even if one write takes longer than the timeout', async (t) => {
  const text = 'x'.repeat(12_000_000)
  const { port } = await startHttpsServer(t, (_, response) => answer(response, text), {
    timeouts: { header: seconds(60), request: seconds(60), idle: seconds(60), write: seconds(3) },
  })
  const socket = tls.connect({ port, host: '127.0.0.1', ca: root.pem })
  t.after(() => socket.destroy())
  let received = 0
  const whole = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk) => {
      received += chunk.length
      if (received >= text.length) resolve()
      socket.pause()
      setTimeout(() => socket.resume(), 5)
    })
    socket.once('close', () => reject(new Error(`cut after ${received} bytes`)))
  })
  socket.write(get('/'))
  await whole
})

for (const [what, bytes, why] of [
  ['what is not HTTP', 'nonsense\r\n\r\n', 'malformed'],
  ['a header that never ends', `GET / HTTP/1.1\r\na: ${'x'.repeat(40_000)}`, 'headers-too-large'],
  ['half a header', 'GET / HT', 'timed-out'],
  ['silence', '', 'timed-out'],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 'method-not-allowed'],
] as const) {
  test(`${what} is answered, and the connection ends even if the peer does not close it`, async (t) => {
    const { connect, limit } = await startHttpsServer(t, (_, response) => answer(response, ''), {
      timeouts: { header: seconds(1), request: seconds(60), idle: seconds(60), write: seconds(60) },
    })
    const connection = await connect()
    connection.socket.allowHalfOpen = true
    if (bytes !== '') connection.send(bytes)
    const reply = await connection.reply()
    assert.equal(reply?.status, STATUSES[why])
    assert.equal(reply.text, why)
    assert.equal(reply.header('connection'), 'close')
    await eventually(() => (limit.load().open === 0 ? true : undefined), 'its end')
    assert.equal(connection.socket.destroyed, false)
  })
}

test('answers a malformed request in its turn after other requests', async (t) => {
  const { connect } = await startHttpsServer(t, ({ url = '' }, response) => {
    setTimeout(() => answer(response, url), 50)
  })
  const connection = await connect()
  connection.send(`${get('/1')}${get('/2')}nonsense\r\n\r\n`)
  assert.equal((await connection.reply())?.text, '/1')
  assert.equal((await connection.reply())?.text, '/2')
  assert.equal((await connection.reply())?.status, 400)
  await connection.closed
})

// Attack: Node throws when a second response is attached to a socket that already has one.
test('an upgrade request during a running request cuts only its own connection', async (t) => {
  const upgraded: string[] = []
  const { connect, limit } = await startHttpsServer(t, () => undefined, {
    onUpgrade: ({ url = '' }) => upgraded.push(url),
  })
  const first = await connect()
  first.send(`${get('/')}${get('/socket', 'connection: Upgrade', 'upgrade: websocket')}`)
  await first.closed
  assert.deepEqual(upgraded, [])
  const second = await connect()
  second.send(get('/socket', 'connection: Upgrade', 'upgrade: websocket'))
  await eventually(() => (upgraded.length === 1 ? true : undefined), 'the second wish')
  assert.ok(limit.load().open >= 1)
})

// Attack: an error that nothing listens for ends the whole process.
test('a refused upgrade whose body never comes ends only its own connection', async (t) => {
  const ends: string[] = []
  const { connect } = await startHttpsServer(t, () => undefined, {
    onUpgrade(_, response, { socket }) {
      socket.once('close', () => ends.push('close'))
      answer(response, 'no')
    },
  })
  const { send, reply, socket } = await connect()
  send(get('/', 'connection: Upgrade', 'upgrade: websocket', 'content-length: 3'))
  assert.equal((await reply())?.text, 'no')
  socket.destroy()
  await eventually(() => ends[0], 'the end')
})

test('passes on all bytes that follow an upgrade request', async (t) => {
  const { connect } = await startHttpsServer(t, () => undefined, {
    onUpgrade(_, _response, { socket, head }) {
      socket.write('HTTP/1.1 101 Switching Protocols\r\ncontent-length: 6000\r\n\r\n')
      socket.write(head)
      socket.pipe(socket)
    },
  })
  const connection = await connect()
  const behind = 'abc'.repeat(2_000)
  connection.send(`${get('/', 'connection: Upgrade', 'upgrade: websocket')}${behind}`)
  assert.equal((await connection.reply())?.text, behind)
})

test('a drain answers the parsed requests, says close once, and accepts nothing more', async (t) => {
  const handled: string[] = []
  const releases: (() => void)[] = []
  const { connect, server } = await startHttpsServer(t, ({ url = '' }, response) => {
    handled.push(url)
    releases.push(() => answer(response, url))
  })
  const [busy, idle] = [await connect(), await connect()]
  busy.send(`${get('/1')}${get('/2')}${get('/3')}`)
  await eventually(() => releases.shift(), 'the first request').then((release) => {
    void server.close(seconds(60))
    release()
  })
  await idle.closed
  assert.equal((await busy.reply())?.header('connection'), 'keep-alive')
  busy.send(get('/4'))
  for (const url of ['/2', '/3']) {
    ;(await eventually(() => releases.shift(), url))()
    const reply = await busy.reply()
    assert.equal(reply?.text, url)
    assert.equal(reply.header('connection'), url === '/3' ? 'close' : 'keep-alive')
  }
  await busy.closed
  assert.deepEqual(handled, ['/1', '/2', '/3'])
})

test('a drain cuts what is left after the grace period, and logs how much that is', async (t) => {
  const warnings: object[] = []
  const silent = () => undefined
  const log = {
    debug: silent,
    info: silent,
    warn: (fields: object) => warnings.push(fields),
    error: silent,
  }
  let isRunning = false
  const { connect, server } = await startHttpsServer(
    t,
    () => {
      isRunning = true
    },
    { log },
  )
  const busy = await connect()
  busy.send(get('/'))
  await eventually(() => isRunning || undefined, 'the request')
  await server.close(seconds(1))
  await busy.closed
  assert.deepEqual(warnings, [{ connections: 1 }])
})

test('a drain waits until a slow reader has the whole response', async (t) => {
  const text = 'x'.repeat(12_000_000)
  const { port, server } = await startHttpsServer(t, (_, response) => answer(response, text))
  const socket = tls.connect({ port, host: '127.0.0.1', ca: root.pem })
  t.after(() => socket.destroy())
  socket.write(get('/'))
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  const closed = server.close(seconds(60))
  // Far longer than it takes to close idle connections.
  await new Promise((resolve) => setTimeout(resolve, 300))
  let received = first.length
  socket.on('data', (chunk) => {
    received += chunk.length
  })
  await once(socket.resume(), 'close')
  assert.ok(received > text.length, `${received} bytes`)
  await closed
})
