/**
 * Making and finding the authorities, alone and side by side; and whether a client that trusts our bundle
 * believes our certificates, which TLS itself decides here.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer, get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../../base/secrets/vault.ts'
import { systemClock } from '../../../base/time/clock.ts'
import { type Duration, days, milliseconds, minutes } from '../../../base/time/duration.ts'
import { type Instant, instant, minus, plus } from '../../../base/time/instant.ts'
import type { Authorities } from '../stores.ts'
import { type CertificateAuthorities, loadAuthorities } from './authorities.ts'
import { AUTHORITY_ROLES, type AuthorityRole, type StoredAuthority } from './authority-record.ts'

const start = systemClock.now()
const NAMES = ['localhost', '127.0.0.1', '::1']

function memoryAuthorities(rows: StoredAuthority[] = []): Authorities {
  const order = (row: StoredAuthority) => AUTHORITY_ROLES.indexOf(row.role) * 1_000 + row.generation
  return {
    list: async () => rows.toSorted((a, b) => order(a) - order(b)),
    insert: async (authority) => {
      if (rows.some((row) => order(row) === order(authority))) return false
      rows.push(authority)
      return true
    },
  }
}

/** Holds every insert back until `count` of that role have arrived: all of them saw an empty store. */
function meetingAtInsert(store: Authorities, count: number): Authorities {
  const gates = new Map<AuthorityRole, PromiseWithResolvers<void> & { missing: number }>()
  return {
    list: store.list,
    insert: async (authority) => {
      const gate = gates.get(authority.role) ?? { ...Promise.withResolvers<void>(), missing: count }
      gates.set(authority.role, gate)
      gate.missing -= 1
      if (gate.missing === 0) gate.resolve()
      await gate.promise
      return store.insert(authority)
    },
  }
}

function movableClock() {
  let now = start
  return {
    now: () => now,
    advance(by: Duration) {
      now = plus(now, by)
    },
    advanceTo(at: Instant) {
      now = at
    },
  }
}

function installation() {
  const rows: StoredAuthority[] = []
  const secret = systemRandom.bytes(INSTALLATION_SECRET_BYTES)
  const vault = createVault(secret, systemRandom)
  const clock = movableClock()
  const load = (later?: Duration) =>
    loadAuthorities({
      authorities: memoryAuthorities(rows),
      vault,
      random: systemRandom,
      clock: later === undefined ? clock : { now: () => plus(start, later) },
    })
  const replace = (role: AuthorityRole, change: Partial<StoredAuthority>) => {
    const i = rows.findIndex((row) => row.role === role)
    const row = rows[i]
    assert.ok(row)
    rows[i] = { ...row, ...change }
  }
  return { rows, secret, vault, clock, load, replace }
}

/** The root above the CA that signs client certificates. */
function rootOf({ anchorPems, issuingPem }: CertificateAuthorities): string {
  const issuing = new X509Certificate(issuingPem)
  const root = anchorPems.find((pem) => issuing.checkIssued(new X509Certificate(pem)))
  assert.ok(root)
  return root
}

function assertChain(pki: CertificateAuthorities): void {
  const root = new X509Certificate(rootOf(pki))
  const issuing = new X509Certificate(pki.issuingPem)
  assert.ok(root.verify(root.publicKey))
  assert.ok(issuing.verify(root.publicKey))
  assert.ok(issuing.checkIssued(root))
  assert.equal(pki.caBundlePem, rootOf(pki) + pki.issuingPem)
}

const years = (certificate: X509Certificate) =>
  (certificate.validToDate.getTime() - certificate.validFromDate.getTime()) / days(365)

test('the first start makes a root for 20 years and an issuing CA for 10', async () => {
  const { rows, load } = installation()
  const pki = await load()
  assertChain(pki)
  const root = new X509Certificate(rootOf(pki))
  const issuing = new X509Certificate(pki.issuingPem)
  assert.match(root.subject ?? '', /^CN=Latchkey Root CA [0-9a-f]{8}$/)
  assert.match(issuing.subject ?? '', /^CN=Latchkey Issuing CA [0-9a-f]{8}$/)
  assert.equal(root.ca && issuing.ca, true)
  assert.equal(Math.round(years(root)), 20)
  assert.equal(Math.round(years(issuing)), 10)
  assert.deepEqual(
    rows.map((row) => [row.role, row.generation, row.createdAt, row.notAfter]),
    [
      ['root', 1, start, root.validToDate.getTime()],
      ['issuing', 1, start, issuing.validToDate.getTime()],
    ],
  )
})

test('a second start finds the same authorities and makes none', async () => {
  const { rows, load } = installation()
  const first = await load()
  const second = await load(days(100))
  assert.equal(second.caBundlePem, first.caBundlePem)
  assert.equal(rows.length, 2)
})

test('neither a first nor a second start loads an ASN.1 library', async (t) => {
  const { rows, secret, load } = installation()
  const { caBundlePem } = await load()
  // A thread of its own has loaded nothing yet.
  const script = `
    const { registerHooks } = require('node:module')
    const { parentPort, workerData } = require('node:worker_threads')
    const libraries = []
    registerHooks({
      load(url, context, next) {
        if (url.includes('/node_modules/')) libraries.push(url)
        return next(url, context)
      },
    })
    const load = async () => {
      const { loadAuthorities } = await import(workerData.code + 'domain/certificates/own/authorities.ts')
      const { createVault } = await import(workerData.code + 'base/secrets/vault.ts')
      const { systemRandom: random } = await import(workerData.code + 'base/secrets/random.ts')
      const { systemClock: clock } = await import(workerData.code + 'base/time/clock.ts')
      const start = async (rows) => {
        const list = async () => rows
        const insert = async (row) => rows.push(row) > 0
        const authorities = { list, insert }
        const vault = createVault(workerData.secret, random)
        return (await loadAuthorities({ authorities, vault, random, clock })).caBundlePem
      }
      await start([])
      const caBundlePem = await start(workerData.rows)
      const before = libraries.length
      await import(workerData.pkijs)
      parentPort.postMessage({ caBundlePem, before, isSeen: libraries.length > before })
    }
    load()`
  const code = new URL('../../../', import.meta.url).href
  const pkijs = import.meta.resolve('pkijs')
  const worker = new Worker(script, { eval: true, workerData: { code, pkijs, rows, secret } })
  t.after(() => worker.terminate())
  const [answer] = await once(worker, 'message')
  assert.deepEqual(answer, { caBundlePem, before: 0, isSeen: true })
})

test('the database holds no private key in the clear', async () => {
  const { rows, vault, load } = installation()
  await load()
  for (const row of rows) {
    const key = vault.open('authority-key', row.sealedKey, `${row.role}/1`)
    assert.ok(key)
    assert.ok(!Buffer.from(row.sealedKey, 'base64url').includes(key.subarray(0, 32)))
    assert.equal(vault.open('signing-key', row.sealedKey, `${row.role}/1`), undefined)
  }
})

test('instances that start at the same moment on one empty database share one chain', async () => {
  const { rows, vault } = installation()
  const authorities = meetingAtInsert(memoryAuthorities(rows), 3)
  const deps = { authorities, vault, random: systemRandom, clock: { now: () => start } }
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => loadAuthorities(deps)))
  assert.ok(first)
  assertChain(first)
  assert.equal(rows.length, 2)
  for (const other of others) {
    assert.equal(other.caBundlePem, first.caBundlePem)
    const { certificatePem } = await other.issueServerCertificate({ names: NAMES })
    assert.ok(
      new X509Certificate(certificatePem).verify(new X509Certificate(first.issuingPem).publicKey),
    )
  }
})

test('an instance that stopped between root and issuing CA is completed by the next start', async () => {
  const { rows, load } = installation()
  const before = rootOf(await load())
  rows.pop()
  const pki = await load()
  assert.equal(rootOf(pki), before)
  assertChain(pki)
})

test('an issuing CA whose root is gone is followed by one of the new root', async () => {
  const { rows, load } = installation()
  const { issuingPem } = await load()
  rows.shift()
  const pki = await load()
  assert.notEqual(pki.issuingPem, issuingPem)
  assertChain(pki)
})

test('a start with another installation secret says so', async () => {
  const { rows, load } = installation()
  await load()
  const vault = createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
  const authorities = memoryAuthorities(rows)
  await assert.rejects(
    loadAuthorities({ authorities, vault, random: systemRandom, clock: { now: () => start } }),
    {
      message:
        'the key of the root CA (generation 1) cannot be opened: it was stored under another installation secret',
    },
  )
  assert.equal(rows.length, 2)
})

test('a CA certificate that was put into the database from outside is refused', async () => {
  // Attack: an attacker with write access to the database plants their own root for us to hand out.
  for (const role of AUTHORITY_ROLES) {
    const { load, replace } = installation()
    await load()
    const foreign = await installation().load()
    replace(role, { certificatePem: role === 'root' ? rootOf(foreign) : foreign.issuingPem })
    await assert.rejects(load(), {
      message: `the stored certificate of the ${role} CA (generation 1) does not belong to its key`,
    })
  }
})

test('the sealed key of one authority does not open as that of another', async () => {
  const { rows, load, replace } = installation()
  await load()
  replace('issuing', { sealedKey: rows[0]?.sealedKey ?? '' })
  await assert.rejects(load(), { message: /^the key of the issuing CA .* cannot be opened/ })
})

test('a damaged CA certificate is refused', async () => {
  const { load, replace } = installation()
  await load()
  replace('issuing', { certificatePem: 'nothing' })
  await assert.rejects(load(), {
    message: 'the stored certificate of the issuing CA (generation 1) is damaged',
  })
})

const MOMENT = minutes(10)
const later = (...parts: readonly Duration[]) =>
  milliseconds(parts.reduce((sum, one) => sum + one, 0))

test('D-129: an issuing CA in its last year is followed by the next one under the same root', async () => {
  const { rows, load } = installation()
  const before = await load()
  assert.equal((await load(days(9 * 365 - 1))).issuingPem, before.issuingPem)
  const due = days(9 * 365 + 1)
  const made = await load(due)
  assert.equal(rows.at(-1)?.generation, 2)
  assert.equal(made.issuingPem, before.issuingPem, 'first published, then used')
  assert.equal(made.anchorPems.length, 3)
  const after = await load(later(due, MOMENT))
  assert.notEqual(after.issuingPem, before.issuingPem)
  assert.equal(rootOf(after), rootOf(before))
  assert.equal(after.caBundlePem, before.caBundlePem + after.issuingPem)
  const [root, successor] = [
    new X509Certificate(rootOf(after)),
    new X509Certificate(after.issuingPem),
  ]
  assert.ok(successor.checkIssued(root) && successor.verify(root.publicKey))
})

test('a running instance makes the successor and takes it over without a restart', async () => {
  const { rows, clock, load } = installation()
  const pki = await load()
  const { issuingPem } = pki
  assert.deepEqual(await pki.refresh(), [])
  clock.advance(days(9 * 365 + 1))
  const made = await pki.refresh()
  assert.deepEqual(
    made.map(({ role, generation }) => `${role}/${generation}`),
    ['issuing/2'],
  )
  assert.deepEqual(await pki.refresh(), [], 'once')
  assert.equal(rows.length, 3)
  assert.equal(pki.issuingPem, issuingPem)
  clock.advance(MOMENT)
  assert.equal(pki.issuingPem, made[0]?.certificatePem)
})

test('an instance takes over what another one has made', async () => {
  const { clock, load } = installation()
  const [one, other] = [await load(), await load()]
  clock.advance(days(9 * 365 + 1))
  assert.equal((await one.refresh()).length, 1)
  assert.deepEqual(await other.refresh(), [])
  clock.advance(MOMENT)
  assert.equal(other.issuingPem, one.issuingPem)
  assert.equal(other.caBundlePem, one.caBundlePem)
  assert.equal(other.anchorPems.length, 3)
})

test('instances that make a successor at the same moment end up with one', async () => {
  const { rows, vault, clock, load } = installation()
  await load()
  clock.advance(days(9 * 365 + 1))
  const authorities = meetingAtInsert(memoryAuthorities(rows), 3)
  const deps = { authorities, vault, random: systemRandom, clock }
  const pkis = await Promise.all([1, 2, 3].map(() => loadAuthorities(deps)))
  assert.equal(rows.length, 3)
  assert.equal(new Set(pkis.map(({ caBundlePem }) => caBundlePem)).size, 1)
})

test('an issuing CA never outlives its root', async () => {
  const { load } = installation()
  const pki = await load()
  const after = await load(days(15 * 365))
  assert.equal(rootOf(after), rootOf(pki))
  const end = (pem: string) => new X509Certificate(pem).validTo
  assert.equal(end(after.issuingPem), end(rootOf(after)))
})

test('D-129: a root is published five years before the old one ends, and signs in its last year', async () => {
  const { rows, load } = installation()
  const before = await load()
  const early = await load(days(15 * 365 + 1))
  assert.deepEqual(
    rows.map((row) => `${row.role}/${row.generation}`),
    ['root/1', 'issuing/1', 'root/2', 'issuing/2'],
  )
  assert.equal(rootOf(early), rootOf(before), 'the old root signs')
  const published = rows.find(({ role, generation }) => role === 'root' && generation === 2)
  assert.ok(early.anchorPems.includes(published?.certificatePem ?? ''), 'the new one is trusted')

  await load(days(19 * 365 + 1))
  const late = await load(later(days(19 * 365 + 1), MOMENT))
  assert.equal(rootOf(late), published?.certificatePem)
  assert.ok(late.anchorPems.includes(rootOf(before)), 'the old one is still trusted')
})

test('D-129: a client that has only the old root believes our servers until a week before it ends', async () => {
  const { clock, load } = installation()
  const pki = await load()
  const oldRoot = rootOf(pki)
  for (const day of [15 * 365 + 1, 19 * 365 + 1, 19 * 365 + 2, 20 * 365 - 8]) {
    clock.advanceTo(plus(start, days(day)))
    await pki.refresh()
    const issuer = new X509Certificate(pki.serverIssuingPem)
    assert.ok(issuer.verify(new X509Certificate(oldRoot).publicKey), `day ${day}`)
    assert.ok(issuer.validToDate.getTime() >= clock.now())
  }
  // With a week left there is no time for another certificate below it; every holder of the bundle has the new root.
  clock.advanceTo(plus(start, days(20 * 365 - 6)))
  await pki.refresh()
  const issuer = new X509Certificate(pki.serverIssuingPem)
  assert.ok(!issuer.verify(new X509Certificate(oldRoot).publicKey))
  assert.ok(pki.anchorPems.some((pem) => issuer.verify(new X509Certificate(pem).publicKey)))
})

test('what has expired is trusted no longer, to the second', async () => {
  const { clock, load } = installation()
  const pki = await load()
  const { issuingPem } = pki
  clock.advance(days(9 * 365 + 1))
  await pki.refresh()
  const end = instant(new X509Certificate(issuingPem).validToDate.getTime())
  clock.advanceTo(end)
  assert.ok(pki.anchorPems.includes(issuingPem))
  clock.advanceTo(plus(end, milliseconds(1)))
  assert.ok(!pki.anchorPems.includes(issuingPem))
  assert.ok(!pki.caBundlePem.includes(issuingPem))
  assert.equal(pki.anchorPems.length, 2)
})

test('a running instance goes on when the keys of its CAs are sealed under another secret', async () => {
  const { clock, load, replace } = installation()
  const pki = await load()
  const { caBundlePem } = pki
  for (const role of AUTHORITY_ROLES) replace(role, { sealedKey: 'sealed by somebody else' })
  assert.deepEqual(await pki.refresh(), [])
  clock.advance(minutes(1))
  assert.equal(pki.caBundlePem, caBundlePem)
  await pki.issueServerCertificate({ names: NAMES })
})

test('an expired CA whose key can no longer be opened blocks nothing', async () => {
  const { clock, load, replace } = installation()
  const pki = await load()
  clock.advance(days(9 * 365 + 1))
  await pki.refresh()
  clock.advance(days(2 * 365))
  replace('issuing', { sealedKey: 'nothing' })
  const { anchorPems } = await load()
  assert.equal(anchorPems.length, 2)
})

async function serve(t: TestContext, pki: CertificateAuthorities, host: string, names: string[]) {
  const { certificatePem, keyPem } = await pki.issueServerCertificate({ names })
  const options = { cert: certificatePem, key: keyPem.reveal() }
  const server = createServer(options, (_request, response) => response.end('hello'))
  server.listen(0, host)
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

async function visit(host: string, port: number, ca: string): Promise<number | undefined> {
  const request = get({ host, port, ca, agent: false, path: '/' })
  const [response] = await once(request, 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((address) => address?.address === '::1')

for (const name of NAMES) {
  const skip = name === '::1' && !hasIpv6 && 'this machine has no IPv6 loopback'
  test(`a TLS client that trusts our bundle, or our root alone, believes ${name}`, {
    skip,
  }, async (t) => {
    const pki = await installation().load()
    const port = await serve(t, pki, name, NAMES)
    assert.equal(await visit(name, port, pki.caBundlePem), 200)
    assert.equal(await visit(name, port, rootOf(pki)), 200)
  })
}

test('a TLS client does not believe a name that the certificate lacks', async (t) => {
  const pki = await installation().load()
  const port = await serve(t, pki, '127.0.0.1', ['door.example', '192.0.2.1'])
  await assert.rejects(visit('127.0.0.1', port, pki.caBundlePem), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
})

test('a TLS client that trusts another installation does not believe ours', async (t) => {
  const port = await serve(t, await installation().load(), '127.0.0.1', NAMES)
  const other = await installation().load()
  await assert.rejects(visit('127.0.0.1', port, other.caBundlePem), {
    code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  })
})

test('the authorities are valid a minute back, for clocks that are behind', async () => {
  const pki = await installation().load()
  for (const pem of [rootOf(pki), pki.issuingPem]) {
    assert.ok(new X509Certificate(pem).validFromDate.getTime() <= minus(start, 60_000 as Duration))
  }
})
