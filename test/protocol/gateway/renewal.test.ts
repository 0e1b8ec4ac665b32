/**
 * A gateway renews its certificate by itself, with a clock that is moved: D-395. The service is real; the renewal is
 * the one that `latchkey gateway` runs.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { days, hours, minutes } from '../../../src/base/time/duration.ts'
import { enroll } from '../../../src/client/client.ts'
import { createRenewal, type StoredIdentity } from '../../../src/gateway/renewal/renewal.ts'
import { startRouter } from '../../../src/router/router.ts'
import { presenting } from '../../support/certificates/certificate-login.ts'
import { CLIENT } from '../../support/certificates/renewal.ts'
import { administrate } from '../../support/management.ts'
import { startService, temporaryFolder } from '../../support/service.ts'

/** Why the last renewal failed. */
let failure: unknown
const LOG = {
  debug() {},
  info() {},
  warn() {},
  error: ({ err }: { readonly err?: unknown }) => (failure = err),
}

test('the certificate of a gateway', async (t) => {
  const home = await temporaryFolder(t)
  await (await startService(t, { home })).stop()
  // Configured, so that the service does not renew its own: TLS has the time of the system, and would not accept it yet.
  const identity = { cert: 'pki/server.pem', key: 'pki/server.key', ca: 'pki/ca.pem' }
  const service = await startService(t, { home, config: { identity } })
  const { clock } = service
  const admin = await administrate(service)
  const made = await admin.call('POST', '/identities', {
    name: 'gw1',
    type: 'Router',
    isAdmin: false,
    hosts: ['localhost'],
    enrollment: { ott: true },
  })
  const { id, enrollment } = made.json().data
  const enrolled = await enroll(enrollment.jwt, { identityType: 'Router', clock })
  const { ca, credential } = enrolled
  let stored: StoredIdentity = { id, ca, cert: credential.cert, key: credential.key }
  const first = stored
  /** What was stored, in order. */
  const history: StoredIdentity[] = []
  let renewedTo: StoredIdentity | undefined
  let failsToStore = false
  const renewal = () =>
    createRenewal({
      clock,
      log: LOG,
      controller: () => service.baseUrl,
      read: async () => stored,
      store: async (next) => {
        if (failsToStore && next.isUnconfirmed !== true) throw new Error('killed')
        stored = next
        history.push(next)
      },
      onRenewed: (next) => {
        renewedTo = next
      },
    })
  const logsIn = async ({ cert, key }: StoredIdentity) => {
    const chain = { pem: cert, keyPem: key } as Parameters<typeof presenting>[1]
    const reply = await presenting(service, chain).call(`${CLIENT}/authenticate?method=cert`, {
      method: 'POST',
      json: {},
    })
    return reply.status === 200
  }

  await t.test('is not touched while more than a third of its life is left', async () => {
    assert.equal(await renewal().look(), 'not-due')
    clock.advance(days(240))
    assert.equal(await renewal().look(), 'not-due')
    assert.deepEqual(history, [])
  })

  await t.test(
    'waits longer after each failure, and goes on when the controller is back',
    async () => {
      clock.advance(days(5))
      let isAway = true
      const one = createRenewal({
        clock,
        log: LOG,
        controller: () => (isAway ? 'https://localhost:1' : service.baseUrl),
        read: async () => stored,
        store: async (next) => {
          stored = next
          history.push(next)
        },
        onRenewed: (next) => {
          renewedTo = next
        },
      })
      assert.equal(await one.look(), 'failed')
      assert.equal(await one.look(), 'waiting')
      clock.advance(minutes(1))
      assert.equal(await one.look(), 'failed')
      clock.advance(minutes(1))
      assert.equal(await one.look(), 'waiting')
      clock.advance(minutes(1))
      isAway = false
      assert.equal(await one.look(), 'renewed')
    },
  )

  await t.test(
    'is stored before it is confirmed, and the old one is refused from then on',
    async () => {
      assert.deepEqual(
        history.map(({ isUnconfirmed }) => isUnconfirmed),
        [true, undefined],
      )
      assert.equal(renewedTo, stored)
      assert.notEqual(stored.cert, first.cert)
      assert.notEqual(stored.key, first.key)
      const leaf = new X509Certificate(stored.cert)
      assert.match(leaf.subjectAltName ?? '', /DNS:localhost/)
      assert.ok(leaf.validToDate > new X509Certificate(first.cert).validToDate)
      assert.equal(await logsIn(stored), true)
      assert.equal(await logsIn(first), false)
      assert.equal(await renewal().look(), 'not-due')
    },
  )

  await t.test('is confirmed at the next start if the gateway was killed before', async () => {
    clock.advance(days(250))
    // As it does by itself after half a minute.
    await service.instance.renewCertificates()
    const before = stored
    failsToStore = true
    assert.equal(await renewal().look(), 'failed')
    failsToStore = false
    assert.match(String(failure), /killed/)
    assert.equal(stored.isUnconfirmed, true)
    assert.notEqual(stored.cert, before.cert)
    assert.equal(await renewal().look(), 'confirmed')
    assert.equal(stored.isUnconfirmed, undefined)
    assert.equal(await logsIn(stored), true)
    assert.equal(await logsIn(before), false)
  })

  await t.test(
    'is used for the next connection to the controller, and names the hosts of then',
    async () => {
      const now = await administrate(service)
      await now.act('PATCH', `/identities/${id}`, { hosts: ['localhost', 'gw1.example.com'] })
      clock.advance(days(250))
      const before = stored
      const router = startRouter({ controller: service.baseUrl, identity: { ...before }, clock })
      t.after(() => router.stop())
      await router.ready
      assert.equal(await renewal().look(), 'renewed')
      assert.match(new X509Certificate(stored.cert).subjectAltName ?? '', /DNS:gw1\.example\.com/)
      router.replaceIdentity(stored)
      assert.equal(router.isCutOff(), false)
      assert.throws(() => router.replaceIdentity({ ...stored, key: before.key }), TypeError)
    },
  )

  await t.test('that has expired is not renewed, and says so', async () => {
    clock.advance(days(400))
    assert.equal(await renewal().look(), 'failed')
    clock.advance(hours(1))
    assert.equal(await logsIn(stored), false)
  })
})
