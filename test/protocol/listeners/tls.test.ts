/**
 * The TLS of a listener: versions, a client certificate that is asked for and never required, no resumption, no
 * renegotiation. D-21, D-46; R094, R111.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { writeCertificates } from '../../../src/base/certificates.ts'
import { systemRandom } from '../../../src/base/secrets/random.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { days } from '../../../src/base/time/duration.ts'
import { plus } from '../../../src/base/time/instant.ts'
import {
  type CertificateProfile,
  type Issuer,
  newKeyPair,
  signCertificate,
} from '../../../src/domain/certificates/write-certificate.ts'
import { connectRaw } from '../../support/edge/raw-connection.ts'
import { beginLogin } from '../../support/login/login.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const
const only = (version: tls.SecureVersion) => ({ minVersion: version, maxVersion: version })

/** What a GET of /version over a connection with these options is answered with. */
async function statusOver(service: Service, options: tls.ConnectionOptions): Promise<number> {
  const connection = await connectRaw(service, options)
  try {
    connection.send(`GET /version HTTP/1.1\r\nHost: ${new URL(service.baseUrl).host}\r\n\r\n`)
    return (await connection.reply())?.status ?? 0
  } finally {
    connection.socket.destroy()
  }
}

function withOptions(options: object) {
  const bindPoints = [{ interface: '127.0.0.1:0', address: 'localhost:0' }]
  return { web: [{ name: 'only', bindPoints, options, apis: [{ binding: 'edge-client' }] }] }
}

test('TLS 1.2 and 1.3 are spoken by default, and nothing older (R111)', async (t) => {
  const service = await startService(t)
  for (const version of VERSIONS) assert.equal(await statusOver(service, only(version)), 200)
  const old = { ...only('TLSv1.1'), ciphers: 'DEFAULT@SECLEVEL=0' }
  await assert.rejects(statusOver(service, old), { code: REFUSED_VERSION })
})

test('D-329: TLS 1.2 is spoken with authenticated encryption alone', async (t) => {
  const service = await startService(t)
  const over = (ciphers: string) => statusOver(service, { ...only('TLSv1.2'), ciphers })
  for (const cipher of ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305']) {
    assert.equal(await over(`ECDHE-ECDSA-${cipher}`), 200, cipher)
  }
  for (const cipher of ['AES128-SHA', 'AES256-SHA', 'AES128-SHA256', 'AES256-SHA384']) {
    await assert.rejects(over(`ECDHE-ECDSA-${cipher}`), { code: NO_CIPHER }, cipher)
  }
})

/** The alert handshake_failure, RFC 5246 §7.2.2. */
const NO_CIPHER = /ALERT_HANDSHAKE_FAILURE$/

test('minTLSVersion refuses what is older', async (t) => {
  const service = await startService(t, { config: withOptions({ minTLSVersion: 'TLS1.3' }) })
  assert.equal(await statusOver(service, only('TLSv1.3')), 200)
  await assert.rejects(statusOver(service, only('TLSv1.2')), { code: REFUSED_VERSION })
})

test('maxTLSVersion refuses what is newer', async (t) => {
  const service = await startService(t, { config: withOptions({ maxTLSVersion: 'TLS1.2' }) })
  assert.equal(await statusOver(service, only('TLSv1.2')), 200)
  await assert.rejects(statusOver(service, only('TLSv1.3')), { code: REFUSED_VERSION })
})

/** The alert protocol_version, RFC 8446 §6.2. */
const REFUSED_VERSION = 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'

test('the certificate is of our own CA and for every name of the bind points', async (t) => {
  const service = await startService(t)
  const { socket } = await connectRaw(service)
  assert.equal(socket.authorized, true)
  const certificate = socket.getPeerCertificate()
  for (const name of ['localhost', '127.0.0.1', '::1']) {
    assert.equal(tls.checkServerIdentity(name, certificate), undefined)
  }
  assert.notEqual(tls.checkServerIdentity('evil.example', certificate), undefined)
  socket.destroy()
})

test('plain HTTP is not spoken (R111)', async (t) => {
  const service = await startService(t)
  const { port } = new URL(service.baseUrl)
  const socket = net.connect({ host: '127.0.0.1', port: Number(port) })
  socket.on('error', () => undefined)
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  socket.write('GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'close')
  const text = Buffer.concat(received).toString()
  assert.match(text, /^HTTP\/1\.1 308 /)
  assert.match(text, /\r\nlocation: https:\/\/localhost:\d+\/version\r\n/)
  assert.match(text, /\r\n\r\nThis port speaks HTTPS\. Use https:\/\/localhost:\d+ instead\.\n$/)
  assert.equal(await statusOver(service, {}), 200)
})

test('a client certificate is asked for', async (t) => {
  const service = await startService(t)
  // TLS 1.2 says it in the clear: handshake message 13, certificate_request (RFC 5246 §7.4.4).
  const messages = await handshakeMessages(t, service)
  assert.deepEqual(
    messages.filter((type) => type === 13),
    [13],
  )
})

test('a client certificate is never required, and a foreign one changes nothing', async (t) => {
  // Attack: a certificate that anybody can make is taken for a credential because the handshake accepted it.
  const service = await startService(t)
  const authority = await certificate('Somebody', { kind: 'authority' })
  const ours = (await trustedAuthority(service)).replace(/^CN=/, '')
  const certificates = {
    'no certificate': undefined,
    'a self-signed certificate': await certificate('admin', SERVER),
    'an expired certificate': await certificate('admin', SERVER, undefined, EXPIRED),
    'a certificate of a foreign CA': await certificate('admin', SERVER, authority),
    'a certificate of a CA with the name of ours': await certificate(
      'admin',
      SERVER,
      await certificate(ours, { kind: 'authority' }),
    ),
    'a CA certificate': authority,
  }
  for (const [title, shown] of Object.entries(certificates)) {
    await t.test(`${title} connects and is not a credential`, async () => {
      for (const version of VERSIONS) {
        const connection = await connectRaw(service, {
          ...only(version),
          ...(shown === undefined ? {} : clientIdentity(shown)),
        })
        t.after(() => connection.socket.destroy())
        const host = `Host: ${new URL(service.baseUrl).host}\r\n`
        connection.send(`GET /version HTTP/1.1\r\n${host}\r\n`)
        assert.equal((await connection.reply())?.status, 200)
        connection.send(`GET /edge/client/v1/current-identity HTTP/1.1\r\n${host}\r\n`)
        const refused = await connection.reply()
        assert.equal(refused?.status, 401)
        assert.equal(refused?.json().error.code, 'UNAUTHORIZED')

        const { authRequestId } = await beginLogin(service)
        const body = JSON.stringify({ authRequestId, ...ADMIN })
        connection.send(
          `POST /oidc/login/username HTTP/1.1\r\n${host}Content-Type: application/json\r\n` +
            `Content-Length: ${body.length}\r\n\r\n${body}`,
        )
        assert.equal((await connection.reply())?.status, 302)
        connection.socket.destroy()
      }
    })
  }
})

test('R094: no connection is resumed', async (t) => {
  // Attack: a resumed connection shows the certificate of the first one, so a stolen or shared session would carry
  // somebody else's certificate; and Node has mixed them up on resumption before.
  const service = await startService(t)
  const shown = clientIdentity(await certificate('somebody', SERVER))

  async function assertNotResumed(version: tls.SecureVersion, options: tls.ConnectionOptions) {
    const sessions: Buffer[] = []
    const first = await connectRaw(service, { ...only(version), ...shown, ...options })
    first.socket.on('session', (session) => sessions.push(session))
    first.send(`GET /version HTTP/1.1\r\nHost: ${new URL(service.baseUrl).host}\r\n\r\n`)
    assert.equal((await first.reply())?.status, 200)
    const last = first.socket.getSession()
    assert.ok(last !== undefined)
    first.socket.destroy()
    for (const session of [...sessions, last]) {
      const second = await connectRaw(service, { ...only(version), ...options, session })
      assert.equal(second.socket.isSessionReused(), false)
      second.socket.destroy()
    }
  }

  for (const version of VERSIONS) {
    await t.test(`with ${version}`, () => assertNotResumed(version, {}))
  }

  await t.test('after the server certificate was renewed either', async () => {
    const serial = async () => {
      const { socket } = await connectRaw(service, { rejectUnauthorized: false })
      const { serialNumber } = socket.getPeerCertificate()
      socket.destroy()
      return serialNumber
    }
    const before = await serial()
    // The real clock has not moved, so the new one is of the future to a client that checks.
    service.clock.advance(days(300))
    await service.instance.renewCertificates()
    assert.notEqual(await serial(), before)
    for (const version of VERSIONS) {
      await assertNotResumed(version, { rejectUnauthorized: false })
    }
  })
})

test('R111: a client cannot renegotiate', async (t) => {
  // Attack: each renegotiation costs the server a signature and the client next to nothing.
  const service = await startService(t)
  const { socket } = await connectRaw(service, only('TLSv1.2'))
  t.after(() => socket.destroy())
  const failed = once(socket, 'error')
  socket.renegotiate({}, () => undefined)
  const [error] = await failed
  assert.equal(error.code, 'ERR_SSL_NO_RENEGOTIATION')
})

const SERVER: CertificateProfile = { kind: 'server', names: [{ type: 'dns', value: 'localhost' }] }
const EXPIRED = { notBefore: days(-2), notAfter: days(-1) }

async function certificate(
  commonName: string,
  profile: CertificateProfile,
  parent?: Issuer,
  validity = { notBefore: days(-1), notAfter: days(1) },
): Promise<Issuer> {
  const { publicKey, privateKey } = await newKeyPair()
  const now = systemClock.now()
  const signed = signCertificate(
    {
      commonName,
      publicKey,
      notBefore: plus(now, validity.notBefore),
      notAfter: plus(now, validity.notAfter),
      profile,
    },
    parent ?? { privateKey },
    systemRandom,
  )
  return { certificate: signed, privateKey }
}

function clientIdentity({ certificate: shown, privateKey }: Issuer): tls.ConnectionOptions {
  return {
    cert: writeCertificates([shown]),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }
}

/** The subject of the CA that signs our server certificates. */
async function trustedAuthority(service: Service): Promise<string> {
  const { socket } = await connectRaw(service)
  const { issuer } = socket.getPeerX509Certificate() ?? {}
  socket.destroy()
  assert.ok(issuer !== undefined)
  return issuer
}

/** The types of the handshake messages that the service sends in the clear, in TLS 1.2. */
async function handshakeMessages(t: TestContext, service: Service): Promise<readonly number[]> {
  const { port } = new URL(service.baseUrl)
  const received: Buffer[] = []
  const tap = net.createServer((client) => {
    const upstream = net.connect({ host: '127.0.0.1', port: Number(port) })
    upstream.on('data', (chunk: Buffer) => received.push(chunk))
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
  })
  tap.listen(0, '127.0.0.1')
  await once(tap, 'listening')
  t.after(() => tap.close())
  const at = `https://127.0.0.1:${(tap.address() as AddressInfo).port}`
  const { socket } = await connectRaw(service, { ...only('TLSv1.2'), at })
  socket.destroy()

  // RFC 5246 §6.2.1: records of type, version, length; handshake is 22, and what follows type 20 is encrypted.
  const bytes = Buffer.concat(received)
  const payloads: Buffer[] = []
  for (let at = 0; at < bytes.length && bytes[at] === 22; at += 5 + bytes.readUInt16BE(at + 3)) {
    payloads.push(bytes.subarray(at + 5, at + 5 + bytes.readUInt16BE(at + 3)))
  }
  const handshake = Buffer.concat(payloads)
  const types: number[] = []
  for (let at = 0; at < handshake.length; at += 4 + handshake.readUIntBE(at + 1, 3)) {
    types.push(handshake[at] ?? 0)
  }
  return types
}
