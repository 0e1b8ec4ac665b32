/**
 * Behind a load balancer that passes TLS through, a listener gets the client's address from a PROXY header of version
 * 2, and believes it only from trusted sources: D-208, R111.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { proxyHeader } from '../../support/edge/proxy-header.ts'
import { eventually } from '../../support/eventually.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const CLIENT = '203.0.113.9'
const CLOSED = 'closed'

function start(t: TestContext, trustedSources: readonly string[], edge: object = {}) {
  return startService(t, {
    config: {
      web: [
        {
          name: 'balanced',
          bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
          options: { timeouts: { header: '1s' } },
          proxyProtocol: { trustedSources },
          apis: [{ binding: 'edge-client' }, { binding: 'edge-management' }],
        },
      ],
      edge,
    },
  })
}

/** Acts as a balancer: a connection, its header in these pieces, and then the client's bytes. */
async function open(t: TestContext, service: Service, pieces: readonly Uint8Array[]) {
  const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.setNoDelay()
  for (const piece of pieces) {
    socket.write(piece)
    if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return socket
}

/** The response over that connection, or that there was none. */
async function ask(socket: Socket, service: Service, path: string, fields: readonly string[] = []) {
  const secure = tls.connect({ socket, ca: service.ca, servername: 'localhost' })
  secure.on('error', () => undefined)
  let text = ''
  secure.on('data', (chunk) => {
    text += chunk
  })
  const { host } = new URL(service.baseUrl)
  const lines = [`POST ${path} HTTP/1.1`, `Host: ${host}`, ...fields, 'Connection: close']
  secure.write(
    `${lines.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
  )
  // Not `once`: an earlier error is expected here.
  await new Promise((resolve) => secure.on('close', resolve))
  if (text === '') return CLOSED
  return { status: Number(text.split(' ')[1]), requestId: /x-request-id: (\w+)/i.exec(text)?.[1] }
}

const LOGIN = '/edge/client/v1/authenticate?method=cert'

/** The address of a failed login in the log and in the event. */
async function addressesOf(service: Service, reply: Awaited<ReturnType<typeof ask>>) {
  assert.ok(reply !== CLOSED)
  assert.equal(reply.status, 401)
  const logged = await eventually(
    () => service.log.find((line) => line.msg === 'request' && line.requestId === reply.requestId),
    'the line of the request in the log',
  )
  const rows = await sql(
    service,
    `select address from events where request_id = '${reply.requestId}'`,
  )
  return { log: logged.address, events: rows.map(({ address }) => address) }
}

test('the address of the header is the one that limits, events and the log see', async (t) => {
  const service = await start(t, ['127.0.0.0/8'])
  const header = proxyHeader({ source: CLIENT, port: 4711, additions: Buffer.alloc(40, 3) })
  const cut: Readonly<Record<string, readonly Uint8Array[]>> = {
    'in one piece': [header],
    'byte by byte': Array.from(header, (byte) => Uint8Array.of(byte)),
  }
  for (const [title, pieces] of Object.entries(cut)) {
    await t.test(title, async (t) => {
      const reply = await ask(await open(t, service, pieces), service, LOGIN)
      assert.deepEqual(await addressesOf(service, reply), { log: CLIENT, events: [CLIENT] })
    })
  }

  await t.test('in one piece with the first bytes of TLS', async (t) => {
    // The bytes of the client are held back until the header can be sent together with them.
    const relay = createServer((client) => {
      client.once('data', (hello) => {
        const onward = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
        onward.write(Buffer.concat([header, Buffer.from(hello)]))
        client.pipe(onward).pipe(client)
        for (const socket of [client, onward]) socket.on('error', () => undefined)
      })
    }).listen(0, '127.0.0.1')
    t.after(() => relay.close())
    await once(relay, 'listening')
    const { port } = relay.address() as { port: number }
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    const reply = await ask(socket, service, LOGIN)
    assert.deepEqual(await addressesOf(service, reply), { log: CLIENT, events: [CLIENT] })
  })

  await t.test('of IPv6 too', async (t) => {
    const pieces = [proxyHeader({ source: '2001:db8::7' })]
    const reply = await ask(await open(t, service, pieces), service, LOGIN)
    assert.equal((await addressesOf(service, reply)).log, '2001:db8:0:0:0:0:0:7')
  })

  await t.test(
    'a health check of the balancer itself is answered, under its own address',
    async (t) => {
      const pieces = [proxyHeader({ command: 0x20, family: 0 })]
      const reply = await ask(await open(t, service, pieces), service, LOGIN)
      assert.equal((await addressesOf(service, reply)).log, '127.0.0.1')
    },
  )
})

test('R111: a client behind the balancer cannot choose another address', async (t) => {
  // Attack: the client sends X-Forwarded-For, which is believed from proxies, or a second PROXY header inside TLS.
  const service = await start(t, ['127.0.0.1'], { limits: { trustedProxies: ['127.0.0.1'] } })
  const header = proxyHeader({ source: CLIENT })
  const forged = ['X-Forwarded-For: 198.51.100.1']
  const reply = await ask(await open(t, service, [header]), service, LOGIN, forged)
  assert.deepEqual(await addressesOf(service, reply), { log: CLIENT, events: [CLIENT] })
  const twice = [Buffer.concat([header, proxyHeader({ source: '198.51.100.1' })])]
  assert.equal(await ask(await open(t, service, twice), service, LOGIN), CLOSED)
})

test('closes a connection without a valid header, and sends no response', async (t) => {
  const service = await start(t, ['127.0.0.0/8'])
  const v1 = Buffer.from(`PROXY TCP4 ${CLIENT} 127.0.0.1 4711 1280\r\n`)
  for (const [title, pieces] of Object.entries({
    'no header': [],
    'version 1': [v1],
    'a datagram': [proxyHeader({ family: 0x12, source: CLIENT })],
    'a header that is too long': [proxyHeader({ source: CLIENT, additions: Buffer.alloc(5_000) })],
  })) {
    await t.test(title, async (t) => {
      assert.equal(await ask(await open(t, service, pieces), service, LOGIN), CLOSED)
    })
  }

  await t.test('waits for a missing or incomplete header for a limited time', async (t) => {
    const header = proxyHeader({ source: CLIENT })
    for (const pieces of [[], [header.subarray(0, 20)]]) {
      const socket = await open(t, service, pieces)
      socket.resume()
      await once(socket, 'close')
    }
  })

  await t.test('the service keeps serving', async (t) => {
    const reply = await ask(
      await open(t, service, [proxyHeader({ source: CLIENT })]),
      service,
      LOGIN,
    )
    assert.ok(reply !== CLOSED)
    assert.equal(reply.status, 401)
  })
})

test('refuses an untrusted source, with or without a header', async (t) => {
  // Attack: a client that bypasses the balancer claims another address.
  const service = await start(t, ['192.0.2.0/24'])
  for (const pieces of [[], [proxyHeader({ source: CLIENT })]]) {
    assert.equal(await ask(await open(t, service, pieces), service, LOGIN), CLOSED)
  }
})
