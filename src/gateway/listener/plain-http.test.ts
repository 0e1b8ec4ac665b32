/** Plain HTTP at the port of a gateway gets a sentence, and a redirect if its certificate is for that host: D-477. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { after, test } from 'node:test'
import { type Edge, startEdge } from '../../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../../test/support/edge/edge-pki.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

/** Everything that comes back until the gateway closes the connection. */
async function sendPlain({ url }: Edge, ...lines: readonly string[]): Promise<string> {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => undefined)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await once(socket, 'close')
  return received
}

test('a person who forgets the s is sent to the https address, with the path', async (t) => {
  const edge = await startEdge(t, pki, alice)
  const { host } = new URL(edge.url)
  const received = await sendPlain(edge, 'GET /a?b=c HTTP/1.1', `Host: ${host}`)
  assert.match(received, /^HTTP\/1\.1 308 /)
  assert.ok(received.includes(`\r\nlocation: https://${host}/a?b=c\r\n`), received)
  assert.ok(received.endsWith(`\r\n\r\nThis port speaks HTTPS. Use https://${host} instead.\n`))
  const mapped = await sendPlain(edge, 'GET / HTTP/1.1', 'Host: 127.0.0.1')
  assert.ok(mapped.includes('\r\nlocation: https://127.0.0.1/\r\n'), mapped)
  assert.deepEqual(edge.upstream.requests, [])
})

// Attack: an open redirect by the Host field, which a cache or a link checker may follow.
test('R058: a Host that the certificate is not for gets the sentence and no redirect', async (t) => {
  const edge = await startEdge(t, pki, alice)
  const hosts = ['Host: evil.example', 'Host: localhost@evil.example', 'Host: ', 'Accept: */*']
  for (const host of hosts) {
    const received = await sendPlain(edge, 'GET / HTTP/1.1', host)
    assert.match(received, /^HTTP\/1\.1 400 /, host)
    assert.doesNotMatch(received, /location|evil/i)
    assert.ok(received.endsWith('\r\n\r\nThis port speaks HTTPS.\n'), received)
  }
})

test('R021: a request with a body is not sent again, and never reaches a service', async (t) => {
  const edge = await startEdge(t, pki, alice)
  const { host } = new URL(edge.url)
  const received = await sendPlain(edge, 'POST /a HTTP/1.1', `Host: ${host}`)
  assert.match(received, /^HTTP\/1\.1 400 /)
  assert.doesNotMatch(received, /location/i)
  assert.deepEqual(edge.upstream.requests, [])
})
