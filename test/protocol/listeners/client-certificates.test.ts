/**
 * What a listener sees of its clients' certificates, at the level of TLS: whose they are, that no connection shows
 * another's, and which CAs are named. D-6, D-21; R093, R094, R096.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, type TestContext, test } from 'node:test'
import type tls from 'node:tls'
import Fastify from 'fastify'
import { systemRandom } from '../../../src/base/secrets/random.ts'
import { Secret } from '../../../src/base/secrets/secret.ts'
import type { Duration } from '../../../src/base/time/duration.ts'
import { fingerprintOf, presentedChain } from '../../../src/http/reading/peer-certificate.ts'
import { openTlsListener, type TlsListener } from '../../../src/http/tls-listener.ts'
import { createConnectionLimit } from '../../../src/https-server/connection-limit.ts'
import { type MadeCertificate, openOpenssl } from '../../support/certificates/openssl.ts'
import { connectRaw, type RawConnection } from '../../support/edge/raw-connection.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

const root = await makeCa({ subject: '/CN=Our Root' })
const issuing = await makeCa({ subject: '/CN=Our Issuing CA', issuer: root })
const partner = await makeCa({ subject: '/O=Partner/CN=Partner CA' })
const server = await makeLeaf(issuing, {
  subject: '/CN=localhost',
  extensions: ['subjectAltName=DNS:localhost,IP:127.0.0.1', 'extendedKeyUsage=serverAuth'],
})
const alice = await makeLeaf(issuing, { subject: '/CN=alice' })
const bob = await makeLeaf(partner, { subject: '/CN=bob' })

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const
const only = (version: tls.SecureVersion) => ({ minVersion: version, maxVersion: version })

interface Seen {
  readonly leaf: string | undefined
  readonly others: readonly string[]
  readonly fingerprint: string | undefined
  readonly authorized: boolean
}

const silent = () => undefined
const SILENT = { debug: silent, info: silent, warn: silent, error: silent }

const material = (made: MadeCertificate) => ({
  certificatePem: made.pem + issuing.pem,
  keyPem: new Secret(made.keyPem),
})

/** A listener that answers with what it sees. */
async function listen(t: TestContext, clientCasPem = root.pem + issuing.pem) {
  const app = Fastify({ logger: false })
  app.get('/', async (request): Promise<Seen> => {
    const chain = presentedChain(request.raw)
    const hex = (der: Uint8Array) => Buffer.from(der).toString('hex')
    assert.equal(presentedChain(request.raw), chain, 'read once')
    return {
      leaf: chain && hex(chain.leaf),
      others: chain?.others.map(hex) ?? [],
      fingerprint: fingerprintOf(chain),
      authorized: (request.raw.socket as tls.TLSSocket).authorized,
    }
  })
  await app.ready()
  const listener = await openTlsListener({
    name: 'only',
    interfaces: [{ host: '127.0.0.1', port: 0 }],
    tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
    timeouts: {
      header: 10_000 as Duration,
      request: 30_000 as Duration,
      idle: 30_000 as Duration,
      write: 30_000 as Duration,
    },
    limit: createConnectionLimit(100, SILENT),
    material: { ...material(server), clientCasPem },
    handler: app.routing,
    log: SILENT,
    random: systemRandom,
  })
  t.after(() => listener.close(0 as Duration))
  return listener
}

async function connect(t: TestContext, { port }: TlsListener, options: tls.ConnectionOptions = {}) {
  const service = { baseUrl: `https://127.0.0.1:${port}`, ca: root.pem }
  const connection = await connectRaw(service, options)
  t.after(() => connection.socket.destroy())
  return connection
}

async function look(connection: RawConnection): Promise<Seen> {
  connection.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const reply = await connection.reply()
  assert.equal(reply?.status, 200)
  return reply.json()
}

const shows = (leaf: MadeCertificate, ...others: readonly MadeCertificate[]) => ({
  cert: [leaf, ...others].map(({ pem }) => pem).join(''),
  key: leaf.keyPem,
})

const sees = (leaf: MadeCertificate, ...others: readonly MadeCertificate[]): Seen => ({
  leaf: Buffer.from(leaf.der).toString('hex'),
  others: others.map(({ der }) => Buffer.from(der).toString('hex')),
  fingerprint: leaf.fingerprint,
  authorized: false,
})

const NOTHING: Seen = {
  leaf: undefined,
  others: [],
  fingerprint: undefined,
  authorized: false,
}
/** As JSON carries it. */
const same = (seen: Seen, expected: Seen) =>
  assert.deepEqual(seen, JSON.parse(JSON.stringify(expected)))

for (const version of VERSIONS) {
  test(`what a client sends is what is seen, with ${version}`, async (t) => {
    const listener = await listen(t)
    const look1 = async (options: tls.ConnectionOptions) =>
      look(await connect(t, listener, { ...only(version), ...options }))
    same(await look1({}), NOTHING)
    same(await look1(shows(alice)), sees(alice))
    // Known to the listener and not: where OpenSSL is content, Node 24 would hide what was sent.
    same(await look1(shows(alice, issuing)), sees(alice, issuing))
    same(await look1(shows(alice, issuing, root)), sees(alice, issuing, root))
    same(await look1(shows(bob, partner)), sees(bob, partner))
    same(await look1(shows(alice, partner, issuing)), sees(alice, partner, issuing))
    // R093: the first one is the one whose key was proven.
    same(await look1(shows(bob, alice, issuing)), sees(bob, alice, issuing))
  })

  test(`R094: a client that comes back without its certificate has none, with ${version}`, async (t) => {
    // Attack: a session that began with alice's certificate is resumed by somebody without one.
    const listener = await listen(t)
    for (const change of [undefined, material(server), { clientCasPem: partner.pem }]) {
      if (change !== undefined) listener.replaceMaterial(change)
      const first = await connect(t, listener, { ...only(version), ...shows(alice, issuing) })
      const sessions: Buffer[] = []
      first.socket.on('session', (session) => sessions.push(session))
      same(await look(first), sees(alice, issuing))
      const last = first.socket.getSession()
      first.socket.destroy()
      for (const session of last === undefined ? sessions : [...sessions, last]) {
        const again = await connect(t, listener, { ...only(version), session })
        assert.equal(again.socket.isSessionReused(), false)
        same(await look(again), NOTHING)
        const asBob = await connect(t, listener, { ...only(version), session, ...shows(bob) })
        same(await look(asBob), sees(bob))
      }
    }
  })
}

test('R094: connections beside each other show each its own certificate, request by request', async (t) => {
  const listener = await listen(t)
  const all = [
    [await connect(t, listener, shows(alice, issuing)), sees(alice, issuing)],
    [await connect(t, listener), NOTHING],
    [await connect(t, listener, shows(bob)), sees(bob)],
  ] as const
  for (let round = 0; round < 3; round++) {
    const seen = await Promise.all(all.map(([connection]) => look(connection)))
    for (const [i, [, expected]] of all.entries()) same(seen[i] as Seen, expected)
  }
})

test('a client cannot show another certificate later on the same connection', async (t) => {
  // Attack: one connection for two people, the second of whom brings his certificate by renegotiation.
  const listener = await listen(t)
  const { socket } = await connect(t, listener, { ...only('TLSv1.2'), ...shows(alice) })
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => socket.once('error', resolve))
  socket.renegotiate({}, () => undefined)
  assert.equal((await failed).code, 'ERR_SSL_NO_RENEGOTIATION')
})

test('of very many certificates as many are seen as tell that there are too many', async (t) => {
  const listener = await listen(t)
  const many = Array.from({ length: 15 }, () => issuing)
  const seen = await look(await connect(t, listener, shows(alice, ...many)))
  assert.equal(seen.fingerprint, alice.fingerprint)
  assert.equal(seen.others.length, 10)
})

test('the CAs are named to the client, and stay named when the certificate is renewed', async (t) => {
  const listener = await listen(t)
  const ours = ['CN=Our Root', 'CN=Our Issuing CA']
  assert.deepEqual(await namedCas(listener), ours)
  listener.replaceMaterial({ clientCasPem: root.pem + issuing.pem + partner.pem })
  const all = [...ours, 'O=Partner, CN=Partner CA']
  assert.deepEqual(await namedCas(listener), all)

  const renewed = await makeLeaf(issuing, {
    subject: '/CN=renewed',
    extensions: ['subjectAltName=DNS:localhost,IP:127.0.0.1', 'extendedKeyUsage=serverAuth'],
  })
  listener.replaceMaterial(material(renewed))
  const { socket } = await connect(t, listener)
  assert.equal(socket.getPeerCertificate().subject.CN, 'renewed')
  assert.deepEqual(await namedCas(listener), all)

  // None named is any asked for: certificates are still seen, and none is authorized by a public CA.
  listener.replaceMaterial({ clientCasPem: '' })
  assert.deepEqual(await namedCas(listener), [])
  same(await look(await connect(t, listener, shows(bob, partner))), sees(bob, partner))
})

/** As another TLS library reads the handshake. */
async function namedCas({ port }: TlsListener): Promise<readonly string[]> {
  const output = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      'openssl',
      ['s_client', '-connect', `127.0.0.1:${port}`],
      (error, stdout) => (stdout === '' ? reject(error) : resolve(stdout)),
    )
    child.stdin?.end()
  })
  if (output.includes('No client certificate CA names sent')) return []
  const [, names = ''] =
    /Acceptable client certificate CA names\n((?:[A-Z]+ ?= ?.*\n)*)/.exec(output) ?? []
  assert.notEqual(names, '', output)
  // Some versions write spaces around the sign.
  return names.trimEnd().replaceAll(' = ', '=').split('\n')
}
