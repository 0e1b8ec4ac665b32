/**
 * Certificates that change while the service runs: given ones are read again, our own are renewed in time.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../src/base/secrets/vault.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { days } from '../../src/base/time/duration.ts'
import { loadAuthorities } from '../../src/domain/certificates/own/authorities.ts'
import { openStore } from '../../src/store/open.ts'
import { changeConfig } from '../support/process/child-home.ts'
import { startChild, waitFor } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { startService } from '../support/service.ts'

/** An authority of somebody else, that issues certificates for this machine into files. */
async function otherAuthority(t: TestContext) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  const vault = createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
  const authority = await loadAuthorities({
    authorities: store.authorities,
    vault,
    random: systemRandom,
    clock: systemClock,
  })
  return {
    caPem: authority.caBundlePem,
    /** The certificate is in its place before the key is, as with tools that write one after the other. */
    async issueInto(folder: string): Promise<string> {
      const issued = await authority.issueServerCertificate({ names: ['localhost', '127.0.0.1'] })
      await put(join(folder, 'given.pem'), issued.certificatePem)
      await put(join(folder, 'given.key'), issued.keyPem.reveal())
      return issued.certificatePem
    },
  }
}

async function put(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/** The serial number of the certificate that a new handshake shows. */
async function shownAt(port: number): Promise<string> {
  const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect')
    return socket.getPeerX509Certificate()?.serialNumber ?? ''
  } finally {
    socket.destroy()
  }
}

test('a given certificate', async (t) => {
  const home = await preparedHome(t)
  const authority = await otherAuthority(t)
  await authority.issueInto(home)
  await writeFile(join(home, 'other-ca.pem'), authority.caPem)
  await changeConfig(home, (config) => {
    config.web[0].identity = { cert: 'given.pem', key: 'given.key', ca: 'other-ca.pem' }
  })
  const service = await startChild(t, { home })
  const first = await shownAt(service.port)
  const messages = (what: string) => service.logLines().filter(({ msg }) => msg === what)
  const hangup = () => service.process.kill('SIGHUP')

  await t.test('is shown, and its CA is the one that the service names', async () => {
    assert.equal(service.caFile, join(home, 'other-ca.pem'))
    assert.equal((await service.call('/version')).status, 200)
  })

  await t.test(
    'that is replaced is shown after SIGHUP, to new handshakes and without a restart',
    async () => {
      await authority.issueInto(home)
      assert.equal(await shownAt(service.port), first)
      hangup()
      await waitFor(
        async () => (await shownAt(service.port)) !== first,
        () => 'the new certificate',
        service,
      )
      assert.equal((await service.call('/version')).status, 200)
      // Its log line is written a moment after the first handshake that shows it.
      const reloaded = () => messages('a server certificate was reloaded').length
      await waitFor(
        () => reloaded() > 0,
        () => 'the log line',
        service,
      )
      assert.equal(reloaded(), 1)
    },
  )

  const second = await shownAt(service.port)
  const refused = 'the new certificate cannot be used; keeping the old one'

  await t.test('that cannot be used is logged once, and the old one stays', async () => {
    await put(join(home, 'given.pem'), 'nonsense')
    hangup()
    await waitFor(
      () => messages(refused).length > 0,
      () => 'a complaint',
      service,
    )
    hangup()
    await waitFor(
      () => messages('looking for newer certificates').length === 3,
      () => 'the third look',
      service,
    )
    assert.equal(await shownAt(service.port), second)
    assert.deepEqual(
      messages(refused).map(({ problems }) => problems),
      [['the certificate file holds no certificate in PEM form']],
    )
  })

  await t.test('that is gone is logged, and the old one stays', async () => {
    await rm(join(home, 'given.pem'))
    hangup()
    // The look before may still be reading the file, and complains as well.
    await waitFor(
      () => messages(refused).length >= 2,
      () => 'a complaint',
      service,
    )
    assert.match(messages(refused)[1].problems[0], /^ENOENT/)
    assert.equal(await shownAt(service.port), second)
  })

  await t.test('is taken as soon as it is good again', async () => {
    await authority.issueInto(home)
    hangup()
    await waitFor(
      async () => (await shownAt(service.port)) !== second,
      () => 'the third certificate',
      service,
    )
    assert.equal((await service.call('/version')).status, 200)
  })

  await t.test('that cannot be used at the start refuses it and says why', async () => {
    await service.stop()
    await put(join(home, 'given.key'), await readFile(join(home, 'pki', 'server.key'), 'utf8'))
    const { code, stderr } = await runLatchkey(t, ['run', '--home', home])
    assert.equal(code, 1)
    const complaint = stderr.trimEnd().split('\n').at(-1)
    assert.equal(
      complaint,
      `latchkey: ${join(home, 'given.pem')}: the key does not belong to the certificate`,
    )
  })
})

test('a certificate of our own that nears its end is renewed on every listener, without a restart', async (t) => {
  const listener = (name: string, binding: string) => ({
    name,
    bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
    apis: [{ binding }],
  })
  const web = [listener('apis', 'edge-client'), listener('admin', 'edge-management')]
  const service = await startService(t, { config: { web } })
  const ports = service.instance.listeners.map(({ baseUrls }) =>
    Number(new URL(baseUrls[0] ?? '').port),
  )
  const shown = () => Promise.all(ports.map(shownAt))
  const before = await shown()
  assert.equal(before[0], before[1], 'one certificate serves both')

  // Its life is 90 days, and a third of it is left when it is renewed.
  service.clock.advance(days(59))
  await service.instance.renewCertificates()
  assert.deepEqual(await shown(), before)

  service.clock.advance(days(2))
  await service.instance.renewCertificates()
  const after = await shown()
  assert.notEqual(after[0], before[0])
  assert.equal(after[1], after[0])

  // The files hold what is shown, for the next start.
  const kept = new X509Certificate(await readFile(join(service.home, 'pki', 'server.pem')))
  assert.equal(kept.serialNumber, after[0])
})

test('files that were damaged while the service ran are created again at the next check', async (t) => {
  const service = await startService(t)
  const port = Number(new URL(service.baseUrl).port)
  const before = await shownAt(port)
  await rm(join(service.home, 'pki', 'server.key'))
  await service.instance.renewCertificates()
  assert.notEqual(await shownAt(port), before)
  assert.equal((await service.call('/version')).status, 200)
})
