/** Five hundred clients of one gateway at once, over HTTP/1.1 and HTTP/2, and the end of their session. D-42, D-405. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { after, test } from 'node:test'
import { startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { ended } from '../../test/support/edge/fake-controller.ts'
import { waitFor } from '../../test/support/process/child-service.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

const EACH = 250
const BATCH = 25

test('five hundred connections have an open response each, and the end of the session closes all of them', async (t) => {
  const edge = await startEdge(t, pki, alice, {
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
    },
  })
  const token = await pki.token()
  let isOpen = 0
  const overHttp1 = async () => {
    const { socket, send } = await edge.connect()
    socket.once('close', () => {
      isOpen -= 1
    })
    send(`GET /1 HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${token}\r\n\r\n`)
    isOpen += 1
  }
  const overHttp2 = async () => {
    const session = connect(edge.url, { ca: pki.root.pem, cert: alice.pem, key: alice.keyPem })
    session.on('error', () => undefined)
    session.once('close', () => {
      isOpen -= 1
    })
    t.after(() => session.destroy())
    const stream = session.request({ authorization: `Bearer ${token}`, ':path': '/2' })
    stream.on('error', () => undefined).resume()
    await once(stream, 'response')
    isOpen += 1
  }
  for (let done = 0; done < EACH; done += BATCH) {
    await Promise.all(Array.from({ length: BATCH }, () => [overHttp1(), overHttp2()]).flat())
  }
  await waitFor(
    () => edge.upstream.openSockets() === 2 * EACH,
    () => `${edge.upstream.openSockets()} at the upstream`,
  )
  assert.equal(isOpen, 2 * EACH)
  edge.feed.send(ended(ALICE.sessionId))
  await waitFor(
    () => isOpen === 0 && edge.upstream.openSockets() === 0,
    () => `${isOpen} are open, ${edge.upstream.openSockets()} at the upstream`,
  )
})
