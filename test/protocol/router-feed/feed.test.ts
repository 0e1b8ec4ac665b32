/**
 * The feed that edge routers follow, over TLS: who gets it, what it begins with, what it goes on with, and when it ends.
 * D-34, D-42, R101.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import { rotateSigningKeys } from '../../../src/app/installation/rotate-signing-keys.ts'
import { failureOf } from '../../support/audit.ts'
import { presenting } from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { ownIssuingCa } from '../../support/certificates/own-pki.ts'
import {
  endMany,
  enroll,
  enrollRouter,
  openFeed,
  readyFeed,
} from '../../support/edge/feed-client.ts'
import {
  CERTIFICATES,
  issueCertificate,
  oidcSession,
  SESSIONS,
} from '../../support/edge/live-session.ts'
import { eventually } from '../../support/eventually.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { revoke } from '../../support/login/refresh.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

const FEED = `${CLIENT_API}/router-feed`

async function world(t: TestContext) {
  const service = await startService(t)
  const admin = await administrate(service)
  return { service, admin, router: await enrollRouter(t, admin) }
}

test('D-42: a router begins with a whole picture: keys, CAs, all that has ended, and then ready', async (t) => {
  const { service, admin, router } = await world(t)
  const gone = await oidcSession(service)
  await admin.act('DELETE', `/api-sessions/${gone.id}`)
  const { response, lines, hello } = await readyFeed(t, service, router)
  assert.equal(response.headers['content-type'], 'application/x-ndjson')
  assert.equal(response.headers['cache-control'], 'no-store')
  assert.ok(response.headers['x-request-id'])
  assert.deepEqual(hello, {
    type: 'hello',
    version: 1,
    brand: 'service',
    trustDomain: 'latchkey',
    issuers: service.instance.listeners.flatMap(({ baseUrls }) =>
      baseUrls.map((base) => `${base}/oidc`),
    ),
    heartbeatSeconds: 1,
    isSnapshot: true,
    epoch: lines.at(-1)?.cursor.split('.')[0],
  })
  assert.deepEqual(lines[1], { type: 'keys', keys: await accessKeysOf(service) })
  assert.deepEqual(lines[2], { type: 'cas', cas: service.ca })
  const untilReady = lines.slice(
    3,
    lines.findIndex(({ type }) => type === 'ready'),
  )
  // D-232: what is in force of the built-in policies, the one of which takes no passwords (SPEC Authentication 2).
  const cas = (await admin.get('/cas')).map(({ id }: { readonly id: string }) => id)
  const open = {
    signers: [],
    cas,
    allowsCertificate: true,
    requireTotp: false,
    requirePasskey: false,
    requireTotpOrPasskey: false,
    requireExtJwt: null,
  }
  const policy = { type: 'policy', ...open, bindTokens: false, requireBoundToken: false }
  assert.deepEqual(
    untilReady.filter(({ type }) => type === 'policy').toSorted((a, b) => a.id.localeCompare(b.id)),
    [
      { ...policy, id: 'default', allowsPassword: true, allowsPasskey: true },
      { ...policy, id: 'production', allowsPassword: false, allowsPasskey: false },
    ],
  )
  const ended = untilReady.filter(({ type }) => type !== 'policy')
  assert.deepEqual(
    ended.map(({ type, subject }) => [type, subject]),
    [['ended', gone.id]],
  )
  assert.deepEqual(Object.keys(ended[0]), ['type', 'subject', 'keepUntil', 'keepFor'])
  assert.ok(ended[0].keepUntil > service.clock.now())
})

test('D-42: heartbeats come by themselves, with a cursor and the time', async (t) => {
  const { service, router } = await world(t)
  const feed = await readyFeed(t, service, router)
  const beats = await eventually(() => {
    const found = feed.lines.filter(({ type }) => type === 'heartbeat')
    return found.length >= 2 ? found : undefined
  }, 'two heartbeats')
  for (const { cursor, at } of beats) {
    assert.match(cursor, /^[\w-]+\.\d+$/)
    assert.ok(cursor.length <= 64)
    assert.ok(Math.abs(at - service.clock.now()) < 60_000)
  }
})

test('D-42, R101: everything that ends is reported: sessions, tokens, session certificates, enrolled certificates', async (t) => {
  const { service, admin, router } = await world(t)
  const feed = await readyFeed(t, service, router)
  const { pem } = await makeCsr()

  for (const begin of Object.values(SESSIONS)) {
    const session = await begin(service)
    const { id } = await issueCertificate(session, pem)
    await session.call(`${CERTIFICATES}/${id}`, { method: 'DELETE' })
    await feed.ended(id)
    await session.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
    const { keepUntil } = await feed.ended(session.id)
    assert.ok(keepUntil > service.clock.now())
  }

  const { token } = await oidcSession(service)
  await revoke(service, token)
  await feed.ended(String(decodeJwt(token).jti))

  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const own = await enroll(admin, openssl, await ownIssuingCa(service), {})
  await admin.act('DELETE', `/authenticators/${own.authenticatorId}`)
  await feed.ended(`cert:${own.certificate.fingerprint}`)
})

test('D-42: a router that comes back with its cursor gets what is new', async (t) => {
  const { service, router } = await world(t)
  const feed = await readyFeed(t, service, router)
  feed.destroy()
  const gone = await oidcSession(service)
  await gone.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
  const again = await readyFeed(t, service, router, feed.cursor())
  assert.equal(again.hello.isSnapshot, false)
  assert.ok(again.subjects().includes(gone.id))
})

test('D-42: a cursor that is unknown, foreign, too new or too long brings a whole picture, never an error', async (t) => {
  const [here, elsewhere] = [await world(t), await world(t)]
  const gone = await oidcSession(here.service)
  await gone.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
  const [place] = (await readyFeed(t, here.service, here.router)).cursor().split('.')
  const foreign = (await readyFeed(t, elsewhere.service, elsewhere.router)).cursor()
  for (const since of ['', 'x', `${place}.999999`, foreign, 'x'.repeat(65), '\u0000', 'é']) {
    const feed = await readyFeed(t, here.service, here.router, since)
    assert.equal(feed.hello.isSnapshot, true, JSON.stringify(since))
    assert.deepEqual(feed.subjects(), [gone.id])
  }
  const twice = presenting(here.service, here.router.certificate)
  assertRefused(await twice.call(`${FEED}?since=a&since=b`), 400, 'COULD_NOT_VALIDATE', 'since')
})

/** D-320: routers never get a key for ID tokens; those are RSA keys here. */
async function accessKeysOf(service: Service): Promise<readonly { readonly kid: string }[]> {
  const { keys } = (await service.call('/oidc/keys')).json()
  const isAccess = ({ alg }: { alg: string }) => alg === 'ES256'
  assert.ok(keys.some((key: { alg: string }) => !isAccess(key)))
  return keys.filter(isAccess)
}

test('D-23: a new signing key is announced before it signs', async (t) => {
  // The service looks for keys of others by itself, so this waits for it.
  const { service, router } = await world(t)
  const feed = await readyFeed(t, service, router)
  const { access: made } = await rotateSigningKeys(service.config)
  const { keys } = await feed.line(
    ({ type, keys }) => type === 'keys' && keys.length === 2,
    'a line with both keys',
  )
  assert.deepEqual(keys, await accessKeysOf(service))
  assert.ok(keys.some(({ kid }: { kid: string }) => kid === made.kid))
  assert.equal(JSON.stringify(keys).includes('"d"'), false, 'R061: public members alone')
})

test('D-42: without a certificate it is 401, with an invalid one 401 with a reason in the log', async (t) => {
  const { service } = await world(t)
  const nobody = await service.call(FEED)
  assertRefused(nobody, 401, 'INVALID_AUTH')
  assert.equal((await failureOf(service, nobody)).reason, 'no-certificate')
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const stranger = presenting(service, await openssl.makeLeaf(await openssl.makeCa()))
  const reply = await stranger.call(FEED)
  assertRefused(reply, 401, 'INVALID_AUTH')
  assert.equal((await failureOf(service, reply)).reason, 'certificate-untrusted')
})

test('D-42: a token is no substitute for the certificate, not even that of an administrator', async (t) => {
  const { service } = await world(t)
  for (const begin of Object.values(SESSIONS)) {
    const session = await begin(service)
    assertRefused(await session.call(FEED), 401, 'INVALID_AUTH')
  }
})

test('D-38: an identity that is not a router is 403, even an administrator', async (t) => {
  const { service, admin } = await world(t)
  for (const fields of [{ type: 'Default' }, { type: 'Default', isAdmin: true }]) {
    const { certificate } = await enrollRouter(t, admin, fields)
    const reply = await presenting(service, certificate).call(FEED)
    assertRefused(reply, 403, 'FORBIDDEN')
    assert.equal(reply.headers['www-authenticate'], undefined)
  }
})

test('HEAD says what GET would be, and leaves nothing open', async (t) => {
  const { service, router } = await world(t)
  const reply = await presenting(service, router.certificate).call(FEED, { method: 'HEAD' })
  assert.equal(reply.status, 200)
  assert.equal(reply.text, '')
})

for (const [what, act] of Object.entries({
  disabled: ['POST', 'disable'],
  deleted: ['DELETE', 'identity'],
  'without its certificate': ['DELETE', 'authenticator'],
} as const)) {
  test(`D-42: the feed of a router that is ${what} is cut, and it gets no other`, async (t) => {
    const { service, admin, router } = await world(t)
    const feed = await readyFeed(t, service, router)
    const [method, target] = act
    const { identityId, authenticatorId } = router
    if (target === 'disable') {
      await admin.act(method, `/identities/${identityId}/disable`, { durationMinutes: 0 })
    } else if (target === 'identity') await admin.act(method, `/identities/${identityId}`)
    else await admin.act(method, `/authenticators/${authenticatorId}`)
    assert.equal(await feed.closed, 'cut')
    const again = await openFeed(t, service, router)
    assert.equal(again.response.statusCode, 401)
  })
}

test('a service that stops ends its feeds in good order', async (t) => {
  const { service, router } = await world(t)
  const feeds = [await readyFeed(t, service, router), await readyFeed(t, service, router)]
  await service.stop()
  for (const feed of feeds) assert.equal(await feed.closed, 'finished')
})

test('a picture of many megabytes is sent whole', async (t) => {
  // An end-all of a large installation: from then on no router could connect, if there were a limit to this.
  const { service, router } = await world(t)
  await endMany(service, 'old', 12)
  const feed = await eventually(async () => {
    const found = await readyFeed(t, service, router)
    return found.subjects().length === 1_200 ? found : undefined
  }, 'all of it')
  await feed.line(({ type }) => type === 'heartbeat', 'a heartbeat after it')
})

test('D-42: a router that does not read is cut off; one that reads beside it is not', async (t) => {
  const { service, router } = await world(t)
  const slow = await readyFeed(t, service, router)
  const quick = await readyFeed(t, service, router)
  slow.response.pause()
  for (let round = 0; round < 14; round++) {
    await quick.ended(await endMany(service, `round-${round}`, 2))
  }
  slow.response.resume()
  assert.equal(await slow.closed, 'cut')
  assert.ok(slow.subjects().length < quick.subjects().length)
  const again = await readyFeed(t, service, router, slow.cursor())
  assert.equal(new Set([...slow.subjects(), ...again.subjects()]).size, 2_800, 'nothing is lost')
})
