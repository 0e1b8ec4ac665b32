import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemRandom } from '../base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../base/secrets/vault.ts'
import { systemClock } from '../base/time/clock.ts'
import { type Duration, days, milliseconds } from '../base/time/duration.ts'
import { plus } from '../base/time/instant.ts'
import { loadAuthorities } from '../domain/certificates/own/authorities.ts'
import { openStore } from '../store/open.ts'
import { createLog } from './logging.ts'
import { givenCertificate, ownCertificate } from './server-certificates.ts'

async function setUp(t: TestContext) {
  const home = await mkdtemp(join(tmpdir(), 'latchkey-certificates-'))
  t.after(() => rm(home, { recursive: true }))
  await mkdir(join(home, 'pki'))
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  let ahead = milliseconds(0)
  const clock = { now: () => plus(systemClock.now(), ahead), uptime: systemClock.uptime }
  const vault = createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
  const needs = { random: systemRandom, clock }
  const authorities = await loadAuthorities({ authorities: store.authorities, vault, ...needs })
  // biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
  const lines: any[] = []
  const log = createLog(
    { level: 'info', format: 'json' },
    { write: (line) => lines.push(JSON.parse(line)) },
  )
  return {
    home,
    authorities,
    clock,
    log,
    lines,
    advance(by: Duration) {
      ahead = milliseconds(ahead + by)
    },
    own: (hosts: readonly string[]) => ownCertificate({ home, hosts, authorities, log, ...needs }),
  }
}

const serial = (shown: { readonly certificatePem: string } | undefined) =>
  shown && new X509Certificate(shown.certificatePem).serialNumber

test('our own certificate is issued once, kept, and found again', async (t) => {
  const { home, own, lines } = await setUp(t)
  const first = await own(['localhost']).load()
  assert.equal(serial(await own(['localhost']).load()), serial(first))
  assert.equal(await readFile(join(home, 'pki', 'server.pem'), 'utf8'), first.certificatePem)
  assert.equal((await stat(join(home, 'pki', 'server.key'))).mode & 0o777, 0o600)
  assert.deepEqual(
    lines.map(({ reason }) => reason),
    ['none'],
  )
})

test('it is for the names of the bind points and for the local ones', async (t) => {
  const { own } = await setUp(t)
  const leaf = new X509Certificate(
    (await own(['id.example.com', '192.0.2.7']).load()).certificatePem,
  )
  for (const name of ['id.example.com', 'localhost']) {
    assert.equal(leaf.checkHost(name, { subject: 'never' }), name)
  }
  for (const address of ['192.0.2.7', '127.0.0.1', '::1']) assert.ok(leaf.checkIP(address), address)
})

test('it is issued again when it has other names, when a file is missing, and when a third of its lifetime is left', async (t) => {
  const { home, own, lines, advance } = await setUp(t)
  await own(['localhost']).load()
  const source = own(['id.example.com'])
  await source.load()
  assert.equal(await source.renew(), undefined)
  await rm(join(home, 'pki', 'server.key'))
  assert.ok(await source.renew())
  assert.equal(await source.renew(), undefined)
  advance(days(61))
  assert.ok(await source.renew())
  assert.deepEqual(
    lines.map(({ reason }) => reason),
    ['none', 'other-names', 'none', 'near-its-end'],
  )
})

test('what one listener has renewed is shown by every other that shares the files', async (t) => {
  const { own, advance } = await setUp(t)
  const [first, second] = [own(['localhost']), own(['localhost'])]
  assert.equal(serial(await first.load()), serial(await second.load()))
  advance(days(61))
  const renewed = await first.renew()
  assert.equal(serial(await second.renew()), serial(renewed))
  assert.equal(await second.renew(), undefined)
})

test('R063: our own key that the world can read is refused', async (t) => {
  const { home, own } = await setUp(t)
  await own(['localhost']).load()
  await chmod(join(home, 'pki', 'server.key'), 0o644)
  await assert.rejects(own(['localhost']).load(), /chmod 600 .*server\.key/)
})

async function given(t: TestContext) {
  const all = await setUp(t)
  const files = { cert: join(all.home, 'given.pem'), key: join(all.home, 'given.key') }
  let written = 0
  const write = async (certificatePem: string, keyPem: string) => {
    await writeFile(files.cert, certificatePem)
    await writeFile(files.key, keyPem, { mode: 0o600 })
    // Two writes within one tick of the file system's clock would look like none.
    written += 1
    await utimes(files.cert, written, written)
  }
  const issue = () => all.authorities.issueServerCertificate({ names: ['localhost'] })
  const put = async () => {
    const { certificatePem, keyPem } = await issue()
    await write(certificatePem, keyPem.reveal())
    return serial({ certificatePem })
  }
  return { ...all, files, write, issue, put, source: () => givenCertificate(files, all) }
}

test('a given certificate is read again when its files change, and only then', async (t) => {
  const { put, source } = await given(t)
  const first = await put()
  const certificates = source()
  assert.equal(serial(await certificates.load()), first)
  assert.equal(await certificates.renew(), undefined)
  const second = await put()
  assert.equal(serial(await certificates.renew()), second)
  assert.equal(await certificates.renew(), undefined)
})

test('given files that cannot be used refuse a start and say why', async (t) => {
  const { files, issue, source, write } = await given(t)
  const [one, other] = [await issue(), await issue()]
  await write(one.certificatePem, other.keyPem.reveal())
  const message = `${files.cert}: the key does not belong to the certificate`
  await assert.rejects(source().load(), { name: 'RefusedStart', message })
  await write(one.certificatePem, one.keyPem.reveal())
  await chmod(files.key, 0o644)
  await assert.rejects(source().load(), { name: 'RefusedStart', message: /chmod 600/ })
})

test('given files that are half replaced keep the old certificate, with one complaint, until they fit', async (t) => {
  const { issue, lines, put, source, write } = await given(t)
  await put()
  const certificates = source()
  const old = await certificates.load()
  const next = await issue()
  await write(next.certificatePem, old.keyPem.reveal())
  for (let look = 0; look < 3; look++) assert.equal(await certificates.renew(), undefined)
  assert.deepEqual(
    lines.map(({ problems }) => problems),
    [['the key does not belong to the certificate']],
  )
  await write(next.certificatePem, next.keyPem.reveal())
  assert.equal(serial(await certificates.renew()), serial(next))
})

test('a given key that the world can read, or that is gone, keeps the old certificate with a complaint', async (t) => {
  const { files, lines, put, source } = await given(t)
  await put()
  const certificates = source()
  await certificates.load()
  await put()
  await chmod(files.key, 0o644)
  assert.equal(await certificates.renew(), undefined)
  assert.match(lines.at(-1).problems[0], /chmod 600/)
  await rm(files.key)
  assert.equal(await certificates.renew(), undefined)
  assert.match(lines.at(-1).problems[0], /ENOENT/)
})
