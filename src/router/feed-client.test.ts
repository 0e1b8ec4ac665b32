/** The connection of the feed, against a real TLS server: cuts, silence, refusals, and what is asked for afterwards. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { openEdgePki } from '../../test/support/edge/edge-pki.ts'
import {
  ended,
  type FakeController,
  heartbeat,
  hello,
  ready,
  startFakeController,
} from '../../test/support/edge/fake-controller.ts'
import { waitFor } from '../../test/support/process/child-service.ts'
import { systemRandom } from '../base/secrets/random.ts'
import { Secret } from '../base/secrets/secret.ts'
import { systemClock } from '../base/time/clock.ts'
import { milliseconds, seconds } from '../base/time/duration.ts'
import { type FeedTimes, startFeedClient } from './feed-client.ts'
import { createFeedCopy } from './feed-copy.ts'

const pki = await openEdgePki()
after(() => pki.close())

const keys = { type: 'keys', keys: pki.jwks }
const cas = { type: 'cas', cas: pki.cas }

/** Patient enough for a busy machine, but for the pauses. */
const TIMES: FeedTimes = {
  silence: seconds(30),
  connect: seconds(30),
  firstPause: milliseconds(1),
  longestPause: milliseconds(4),
}

async function startClient(
  t: TestContext,
  options: {
    readonly times?: Partial<FeedTimes>
    readonly controller?: FakeController
    readonly url?: string
  } = {},
) {
  const controller = options.controller ?? (await startFakeController(t, pki))
  const told: string[] = []
  const lines: { readonly level: string; readonly message: string; readonly why?: string }[] = []
  const logAt = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, ...fields })
  const copy = createFeedCopy({ clock: systemClock, onEnded: (subject) => told.push(subject) })
  const client = startFeedClient({
    controller: new URL(options.url ?? controller.url),
    identity: {
      id: 'r1',
      cert: pki.server.pem,
      key: new Secret(pki.server.keyPem),
      ca: pki.root.pem,
    },
    copy,
    log: { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
    random: systemRandom,
    times: { ...TIMES, ...options.times },
  })
  t.after(() => client.stop())
  const knows = (subject: string) =>
    waitFor(
      () => copy.hasEnded(subject),
      () => subject,
    )
  return { controller, copy, client, told, lines, knows }
}

test('the feed is asked for at its path, with the certificate of the router, from the beginning', async (t) => {
  const { controller, copy } = await startClient(t)
  const feed = await controller.connection()
  assert.equal(feed.path, '/edge/client/v1/router-feed')
  assert.equal(feed.since, null)
  assert.equal(feed.fingerprint, pki.server.fingerprint)
  feed.greet(['s1'])
  await waitFor(
    () => !copy.isCutOff(),
    () => 'a heartbeat',
  )
  assert.equal(copy.hasEnded('s1'), true)
})

test('after a cut it goes on behind the last cursor and keeps what it knew', async (t) => {
  const { controller, copy, told, knows } = await startClient(t)
  const first = await controller.connection()
  first.greet(['s1'], 'c1')
  first.send(ended('s2'), heartbeat('c2'))
  await waitFor(
    () => copy.cursor() === 'c2',
    () => 'the second cursor',
  )
  first.cut()

  const second = await controller.connection()
  assert.equal(second.since, 'c2')
  // Entries may come twice.
  second.send(hello({ isSnapshot: false }), keys, cas, ended('s2'), ended('s3'), ready('c3'))
  await knows('s3')
  await waitFor(
    () => copy.cursor() === 'c3',
    () => 'the third cursor',
  )
  assert.deepEqual(told, ['s1', 's2', 's3'])
  second.end()

  const third = await controller.connection()
  assert.equal(third.since, 'c3')
})

test('a controller that no longer knows the cursor may send everything', async (t) => {
  const { controller, copy } = await startClient(t)
  const first = await controller.connection()
  first.greet([], 'c1')
  await waitFor(
    () => copy.cursor() === 'c1',
    () => 'the cursor',
  )
  first.cut()
  const second = await controller.connection()
  assert.equal(second.since, 'c1')
  second.send(hello({ brand: 'another' }), keys, cas, ended('s9'), ready('x1'))
  await waitFor(
    () => copy.known()?.brand === 'another',
    () => 'the new snapshot',
  )
  assert.equal(copy.cursor(), 'x1')
})

test('a snapshot that is cut in the middle leaves everything as it was, and is asked for again', async (t) => {
  const { controller, copy, knows } = await startClient(t)
  const first = await controller.connection()
  first.send(hello(), keys, ended('s1'))
  await knows('s1')
  first.cut()
  assert.equal(copy.known(), undefined)

  const second = await controller.connection()
  assert.equal(second.since, null)
  second.greet([], 'c1')
  await waitFor(
    () => copy.known() !== undefined,
    () => 'the snapshot',
  )
  second.cut()

  const third = await controller.connection()
  third.send(hello({ brand: 'another' }), ended('s3'))
  await knows('s3')
  third.cut()
  const fourth = await controller.connection()
  assert.equal(fourth.since, 'c1')
  assert.equal(copy.known()?.brand, 'service')
})

test('a line that the network splits is one line; half a line at the end is ignored', async (t) => {
  const { controller, copy, told, knows } = await startClient(t)
  const first = await controller.connection()
  first.greet()
  const text = `${JSON.stringify(ended('s1'))}\n`
  first.write(text.slice(0, 20))
  await waitFor(
    () => !copy.isCutOff(),
    () => 'a heartbeat',
  )
  first.write(text.slice(20))
  await knows('s1')
  first.write(JSON.stringify(ended('s2')))
  first.end()
  await controller.connection()
  assert.deepEqual(told, ['s1'])
})

test('a controller that says nothing for too long is left, also when bytes drip without a whole line', async (t) => {
  const { controller } = await startClient(t, { times: { silence: milliseconds(100) } })
  const first = await controller.connection()
  const drip = setInterval(() => first.write(' '), 10)
  t.after(() => clearInterval(drip))
  await controller.connection()
  await waitFor(
    () => first.isClosed(),
    () => 'the end of the first connection',
  )
})

test('a controller that takes the connection and never answers is left', async (t) => {
  const deaf = createServer().listen(0, '127.0.0.1')
  await once(deaf, 'listening')
  t.after(() => deaf.close())
  const sockets: Socket[] = []
  deaf.on('connection', (socket) => sockets.push(socket.on('error', () => undefined)))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const url = `https://localhost:${(deaf.address() as AddressInfo).port}`
  const { lines } = await startClient(t, { url, times: { connect: milliseconds(50) } })
  await waitFor(
    () => lines.length > 0 && sockets.length > 1,
    () => 'a second attempt',
  )
  assert.equal(lines[0]?.why, 'the controller does not answer')
})

test('hostile lines end the connection, change nothing, and the next one starts again', async (t) => {
  const { controller, copy, lines } = await startClient(t)
  const first = await controller.connection()
  first.greet(['s1'], 'c1')
  await waitFor(
    () => copy.cursor() === 'c1',
    () => 'the cursor',
  )
  const known = copy.known()
  for (const text of [
    'no JSON\n',
    '{"type":"hello"}\n',
    '{"type":"keys","keys":[]}\n',
    '{"type":"cas","cas":"-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----"}\n',
    `${' '.repeat(1024 * 1024 + 1)}`,
    Uint8Array.of(0xc3, 0x28, 0x0a),
  ]) {
    const feed = text === 'no JSON\n' ? first : await controller.connection()
    if (feed !== first) {
      assert.equal(feed.since, null)
      feed.send(hello())
    }
    feed.write(text)
    await waitFor(
      () => feed.isClosed(),
      () => 'the end of the connection',
    )
    assert.equal(copy.known(), known)
    assert.equal(copy.hasEnded('s1'), true)
  }
  assert.equal(lines.filter(({ level }) => level === 'warn').length, 1)
  assert.match(lines.find(({ level }) => level === 'warn')?.why ?? '', /not a JSON object/)
})

test('a refusal by the controller is tried again, with one warning, until it is taken back', async (t) => {
  const controller = await startFakeController(t, pki)
  controller.refuse(403)
  const { copy, lines } = await startClient(t, { controller })
  await waitFor(
    () => lines.length > 0,
    () => 'a warning',
  )
  assert.match(lines[0]?.why ?? '', /status 403/)
  controller.refuse(undefined)
  const feed = await controller.connection()
  feed.greet()
  await waitFor(
    () => !copy.isCutOff(),
    () => 'a heartbeat',
  )
  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [
      ['warn', 'the feed of the controller was interrupted'],
      ['info', 'following the controller'],
    ],
  )
})

test('a controller that switches to another protocol is tried again until it answers', async (t) => {
  const controller = await startFakeController(t, pki)
  controller.refuse(101)
  const { copy, lines } = await startClient(t, { controller })
  await waitFor(
    () => lines.length > 0,
    () => 'a warning',
  )
  assert.equal(lines[0]?.why, 'the controller switched protocols without a request')
  controller.refuse(undefined)
  const feed = await controller.connection()
  feed.greet()
  await waitFor(
    () => !copy.isCutOff(),
    () => 'a heartbeat',
  )
})

test('a controller that closes the feed, as at a restart, is one warning without a stack trace', async (t) => {
  const { controller, copy, lines } = await startClient(t)
  const first = await controller.connection()
  first.greet()
  await waitFor(
    () => !copy.isCutOff(),
    () => 'a heartbeat',
  )
  first.end()
  const second = await controller.connection()
  second.greet()
  await waitFor(
    () => lines.length === 3,
    () => `three lines: ${JSON.stringify(lines)}`,
  )
  const { url } = controller
  assert.deepEqual(lines, [
    { level: 'info', message: 'following the controller', controller: url },
    {
      level: 'warn',
      message: 'the feed of the controller was interrupted',
      why: 'the controller has closed the feed',
    },
    { level: 'info', message: 'following the controller', controller: url },
  ])
})

test('a server whose certificate is not below the CA of the identity is not believed', async (t) => {
  const stranger = await openEdgePki()
  t.after(() => stranger.close())
  const controller = await startFakeController(t, stranger)
  const { copy, lines } = await startClient(t, { controller })
  await waitFor(
    () => lines.length > 0,
    () => 'a warning',
  )
  assert.match(lines[0]?.why ?? '', /certificate/)
  assert.equal(copy.known(), undefined)
})

test('a controller that is not running is one warning that says so, whatever its name resolves to', async (t) => {
  for (const url of ['https://127.0.0.1:1', 'https://localhost:1']) {
    const { lines } = await startClient(t, { url })
    await waitFor(
      () => lines.length > 0,
      () => 'a warning',
    )
    assert.match(lines[0]?.why ?? '', /ECONNREFUSED/, url)
  }
})

test('a stop ends the connection and opens no other', async (t) => {
  const { controller, client } = await startClient(t)
  const first = await controller.connection()
  first.greet()
  await client.stop()
  await waitFor(
    () => first.isClosed(),
    () => 'the end of the connection',
  )
  await client.stop()
})

test('a stop while the controller is unreachable ends the pause', async () => {
  const client = startFeedClient({
    controller: new URL('https://127.0.0.1:1'),
    identity: {
      id: 'r1',
      cert: pki.server.pem,
      key: new Secret(pki.server.keyPem),
      ca: pki.root.pem,
    },
    copy: createFeedCopy({ clock: systemClock, onEnded: () => undefined }),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    random: systemRandom,
    times: { ...TIMES, firstPause: seconds(1_000), longestPause: seconds(1_000) },
  })
  await client.stop()
})
