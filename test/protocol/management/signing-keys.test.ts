/** /signing-keys: which keys sign and verify, and rotation over the API. API 3.3, D-23, D-135; R061, R062, R109. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { milliseconds, minutes } from '../../../src/base/time/duration.ts'
import { EventListReply } from '../../../src/contract/management/events.ts'
import {
  RotatedReply,
  SigningKeyListReply,
  SigningKeyReply,
} from '../../../src/contract/management/signing-keys.ts'
import { PUBLISH_LEAD } from '../../../src/domain/tokens/keys/key-schedule.ts'
import type { Reply } from '../../support/http-client.ts'
import { IDENTITY, INVALID } from '../../support/login/challenges.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

async function list(admin: Administrator, query = '') {
  const reply = await admin.call('GET', `/signing-keys${query}`)
  assert.equal(reply.status, 200, reply.text)
  return SigningKeyListReply.parse(reply.json())
}

async function keySet(service: Service): Promise<readonly Record<string, unknown>[]> {
  return (await service.call('/oidc/keys')).json().keys
}

/** `kid` is the new key for access tokens, `idKid` the one for ID tokens. */
async function rotate(
  admin: Administrator,
  body?: object,
): Promise<{ kid: string; idKid: string | undefined; reply: Reply }> {
  const reply = await admin.call('POST', '/signing-keys', body)
  assert.equal(reply.status, 201, reply.text)
  const { data } = RotatedReply.parse(reply.json())
  assert.equal(data._links.self.href, `./signing-keys/${data.id}`)
  const [access, id, ...others] = data.keys
  assert.deepEqual([access?.kid, access?.purpose, id?.purpose], [data.id, 'access', 'id'])
  assert.deepEqual(others, [])
  return { kid: data.id, idKid: id?.kid, reply }
}

/** The keys for access tokens; those for ID tokens follow the same rules. */
const ofAccess = `?filter=${encodeURIComponent('purpose = "access"')}`

const signedWith = (token: string) => decodeProtectedHeader(token).kid

test('signing keys over the API', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const [first, firstId] = (await list(admin)).data
  assert.ok(first && firstId)

  await t.test('a new service has a key for each kind of token, which signs', async () => {
    const { data, meta } = await list(admin)
    assert.deepEqual(
      data.map(({ purpose, algorithm, state }) => [purpose, algorithm, state]),
      [
        ['access', 'ES256', 'signing'],
        ['id', 'RS256', 'signing'],
      ],
    )
    assert.deepEqual(meta.filterableFields, [
      'id',
      'kid',
      'purpose',
      'algorithm',
      'state',
      'createdAt',
      'activeFrom',
      'publishedUntil',
    ])
    const { id, kid, algorithm, state, publishedUntil, jwk } = first
    assert.deepEqual(
      { id, algorithm, state, publishedUntil },
      { id: kid, algorithm: 'ES256', state: 'signing', publishedUntil: null },
    )
    assert.equal(signedWith(admin.token), kid)
    // R061: what /oidc/keys shows, and nothing private.
    assert.deepEqual([jwk, firstId.jwk], await keySet(service))
    assert.deepEqual(Object.keys(jwk).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
  })

  await t.test('R061, R110: no answer has a private member of a key', async () => {
    const reply = await admin.call('GET', '/signing-keys')
    assert.doesNotMatch(reply.text, /"(d|p|q|dp|dq|qi|k|oth)":/)
    assert.doesNotMatch(reply.text, /sealed|PRIVATE/i)
  })

  await t.test('R062: a rotated key waits, then signs, and the old one retires', async () => {
    const { kid, idKid } = await rotate(admin)
    const waiting = (await list(admin, ofAccess)).data
    assert.deepEqual(
      waiting.map((one) => [one.kid, one.state]),
      [
        [first.kid, 'signing'],
        [kid, 'waiting'],
      ],
    )
    assert.equal(Date.parse(waiting[1]?.activeFrom ?? '') - service.clock.now(), PUBLISH_LEAD)
    assert.equal(
      Date.parse(waiting[0]?.publishedUntil ?? ''),
      Date.parse(waiting[1]?.activeFrom ?? '') + minutes(30),
    )
    assert.equal(signedWith((await logIn(service)).access_token), first.kid)
    assert.equal(signedWith((await logIn(service)).id_token), firstId.kid)

    service.clock.advance(PUBLISH_LEAD)
    assert.equal(signedWith((await logIn(service)).id_token), idKid)
    const later = (await list(admin, `${ofAccess}&sort=activeFrom%20desc`)).data
    assert.deepEqual(
      later.map((one) => [one.kid, one.state]),
      [
        [kid, 'signing'],
        [first.kid, 'retiring'],
      ],
    )
    const fresh = (await logIn(service)).access_token
    assert.equal(signedWith(fresh), kid)
    for (const token of [admin.token, fresh]) {
      assert.equal((await service.call(IDENTITY, bearer(token))).status, 200)
    }
    const filter = encodeURIComponent('state = "retiring" and purpose = "access"')
    assert.deepEqual(
      (await list(admin, `?filter=${filter}`)).data.map((one) => one.kid),
      [first.kid],
    )
    const one = SigningKeyReply.parse((await admin.call('GET', `/signing-keys/${kid}`)).json())
    assert.equal(one.data.kid, kid)
  })

  await t.test('R061: at the stated time the old key is gone, and so is its entry', async () => {
    const { data } = await list(admin)
    const until = Date.parse(data[0]?.publishedUntil ?? '')
    service.clock.advance(milliseconds(until - service.clock.now() - 1))
    assert.equal((await keySet(service)).length, 4)
    service.clock.advance(milliseconds(1))
    assert.equal((await keySet(service)).length, 2)
    const fresh = await administrate(service)
    assert.equal((await list(fresh)).data.length, 2)
    assertRefused(await fresh.call('GET', `/signing-keys/${first.kid}`), 404, 'NOT_FOUND')
  })

  await t.test('R109: a rotation is one event for each key, with who did it', async () => {
    const fresh = await administrate(service)
    const { kid, idKid, reply } = await rotate(fresh, { revokeNow: false })
    const filter = encodeURIComponent(`requestId = "${reply.headers['x-request-id']}"`)
    const events = EventListReply.parse(
      (await fresh.call('GET', `/events?filter=${filter}`)).json(),
    )
    assert.deepEqual(
      events.data
        .map(({ type, actorId, address, details }) => ({ type, actorId, address, details }))
        .toSorted((a, b) =>
          String(a.details?.['purpose']).localeCompare(String(b.details?.['purpose'])),
        ),
      [
        { kid, purpose: 'access' },
        { kid: idKid, purpose: 'id' },
      ].map((details) => ({
        type: 'signing-key.created',
        actorId: decodeJwt(fresh.token).sub,
        address: '127.0.0.1',
        details,
      })),
    )
  })

  await t.test('what is asked wrongly is refused, and makes no key', async () => {
    const fresh = await administrate(service)
    const before = (await list(fresh)).data.length
    for (const [body, field] of [
      [{ revokeNow: 'yes' }, 'revokeNow'],
      [{ revokeNow: 0 }, 'revokeNow'],
      [{ algorithm: 'none' }, 'algorithm'],
    ] as const) {
      assertRefused(
        await fresh.call('POST', '/signing-keys', body),
        400,
        'COULD_NOT_VALIDATE',
        field,
      )
    }
    assertRefused(await fresh.call('DELETE', '/signing-keys'), 405, 'METHOD_NOT_ALLOWED')
    assert.equal((await list(fresh)).data.length, before)
  })

  await t.test(
    'ten rotations at once make ten keys of each kind, one after the other',
    async () => {
      const fresh = await administrate(service)
      const before = (await list(fresh)).data.length
      const kids = await Promise.all(Array.from({ length: 10 }, () => rotate(fresh)))
      assert.equal(new Set(kids.map(({ kid }) => kid)).size, 10)
      assert.equal((await list(fresh, '?limit=500')).data.length, before + 20)
      const { data } = await list(fresh, `${ofAccess}&limit=500`)
      // No key overtakes another: each waits for the one before it.
      const starts = data.map(({ activeFrom }) => Date.parse(activeFrom))
      assert.deepEqual(
        starts,
        starts.toSorted((a, b) => a - b),
      )
    },
  )
})

test('D-135: revokeNow withdraws every older key', async (t) => {
  // Attack: somebody has the private key, and signs himself what he likes.
  const service = await startService(t)
  const admin = await administrate(service)
  const { kid: waiting, idKid: waitingId } = await rotate(admin)
  const [first, firstId] = (await list(admin)).data
  const { kid, idKid, reply } = await rotate(admin, { revokeNow: true })

  const keys = await keySet(service)
  assert.deepEqual(
    keys.map((key) => key['kid']),
    [kid, idKid],
    'the old ones are gone from the key set at once, also the one that has not signed yet',
  )
  const refused = await service.call(IDENTITY, bearer(admin.token))
  assert.equal(refused.headers['www-authenticate'], INVALID)
  const fresh = await administrate(service)
  assert.equal(signedWith(fresh.token), kid)
  const { data } = await list(fresh)
  assert.deepEqual(
    data.map((one) => [one.kid, one.state, one.publishedUntil]),
    [
      [kid, 'signing', null],
      [idKid, 'signing', null],
    ],
  )
  const filter = encodeURIComponent(`requestId = "${reply.headers['x-request-id']}" sort by type`)
  const events = EventListReply.parse((await fresh.call('GET', `/events?filter=${filter}`)).json())
  assert.deepEqual(
    events.data.map(({ type, details }) => `${type} ${details?.['kid']}`).toSorted(),
    [
      `signing-key.created ${kid}`,
      `signing-key.created ${idKid}`,
      `signing-key.revoked ${first?.kid}`,
      `signing-key.revoked ${firstId?.kid}`,
      `signing-key.revoked ${waiting}`,
      `signing-key.revoked ${waitingId}`,
    ].toSorted(),
  )
  for (const event of events.data) assert.equal(event.actorId, decodeJwt(admin.token).sub)
})
