/** Connections that say nothing: they hold neither the end of the server nor a place that another needs. D-195, D-201. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../test/support/eventually.ts'
import { answer, get, MOST, startHttpsServer } from '../../test/support/https-server.ts'
import { seconds } from '../base/time/duration.ts'

/** A record header of a handshake that announces more than follows. */
const HALF_CLIENT_HELLO = Buffer.from('1603010200010001fc0303', 'hex')

const PATIENT = {
  header: seconds(300),
  request: seconds(300),
  idle: seconds(300),
  write: seconds(300),
}

async function connectSilently(t: TestContext, port: number, localPort?: number) {
  const socket = net.connect({
    port,
    host: '127.0.0.1',
    ...(localPort && { localPort, localAddress: '127.0.0.1' }),
  })
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

// Attack: by its peer address the second connection takes the entry of the first, which removes it when it ends.
test('a connection from a port that was used before ends with the others', async (t) => {
  const { server, limit, port } = await startHttpsServer(t, (_, response) => answer(response, ''), {
    // Longer than anyone waits here: nothing but the close ends the connection.
    timeouts: PATIENT,
  })
  const opens = (count: number) =>
    eventually(() => (limit.load().open === count ? true : undefined), `${count} open`)
  const second = await eventually(async () => {
    const first = await connectSilently(t, port)
    first.write(HALF_CLIENT_HELLO)
    await opens(1)
    const { localPort } = first
    // Both in one turn: the server sees the new one before the end of the old one.
    first.resetAndDestroy()
    const again = await connectSilently(t, port, localPort).catch(() => undefined)
    // Now and then another program has the port.
    if (again === undefined) await opens(0)
    return again
  }, 'a second connection from one port')
  assert.equal(second.destroyed, false)
  await opens(1)
  let isClosed = false
  void server.close(seconds(300)).then(() => {
    isClosed = true
  })
  await eventually(() => isClosed || undefined, 'the end of the server')
  await opens(0)
})

// Attack: connections that say nothing take every place, again and again.
test('D-201: at the limit a client is answered, and connections with a request stay open', async (t) => {
  const { connect, limit, port } = await startHttpsServer(t, ({ url = '' }, response) =>
    answer(response, url),
  )
  const known = await connect()
  known.send(get('/first'))
  assert.equal((await known.reply())?.text, '/first')
  const silent = []
  for (let i = 0; i < 2 * MOST; i++) silent.push(await connectSilently(t, port))
  // One of them finished its handshake, and says nothing all the same.
  const secured = await connect()
  for (let i = 0; i < MOST; i++) silent.push(await connectSilently(t, port))
  await secured.closed
  const client = await connect()
  client.send(get('/client'))
  assert.equal((await client.reply())?.text, '/client')
  known.send(get('/second'))
  assert.equal((await known.reply())?.text, '/second')
  const { open, refused, displaced } = limit.load()
  assert.deepEqual({ open, refused }, { open: MOST, refused: 0 })
  assert.equal(displaced, 3 * MOST + 3 - MOST)
})

test('D-201: at the limit of connections that are used a newcomer is refused', async (t) => {
  let begun = 0
  const { connect, limit, port } = await startHttpsServer(t, () => {
    begun += 1 // and never answered
  })
  for (let i = 0; i < MOST; i++) (await connect()).send(get('/'))
  await eventually(() => (begun === MOST ? true : undefined), 'every request')
  const newcomer = await connectSilently(t, port)
  await once(newcomer.resume(), 'close')
  assert.deepEqual(limit.load(), { open: MOST, refused: 1, displaced: 0, most: MOST })
})

// Attack: each connection sends one small request, needs no credential for it, and says nothing more: as good as silent.
test('D-469: at the limit the connection that has been idle the longest makes way, and none with a request does', async (t) => {
  const { promise: free, resolve } = Promise.withResolvers<void>()
  const { connect, limit } = await startHttpsServer(t, ({ url = '' }, response) => {
    if (url === '/slow') void free.then(() => answer(response, url))
    else answer(response, url)
  })
  const ask = async (connection: Awaited<ReturnType<typeof connect>>, path: string) => {
    connection.send(get(path))
    assert.equal((await connection.reply())?.text, path)
  }
  const slow = await connect()
  await ask(slow, '/first')
  slow.send(get('/slow'))
  const idle = []
  for (let i = 1; i < MOST; i++) {
    const connection = await connect()
    await ask(connection, '/once')
    idle.push(connection)
  }
  const [oldest, next] = idle
  assert.ok(oldest !== undefined && next !== undefined)
  await ask(oldest, '/again')
  const client = await connect()
  await ask(client, '/client')
  await next.closed
  await ask(oldest, '/third')
  resolve()
  assert.equal((await slow.reply())?.text, '/slow')
  const { open, refused, displaced } = limit.load()
  assert.deepEqual({ open, refused, displaced }, { open: MOST, refused: 0, displaced: 1 })
})
