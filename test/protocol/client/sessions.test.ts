/**
 * A session of `latchkey/client` over time: tokens that expire, keys that rotate, ends that others make, and the file
 * it is kept in. The clock of client and service is one, and is moved by hand.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { rotateSigningKeys } from '../../../src/app/installation/rotate-signing-keys.ts'
import { days, hours, minutes } from '../../../src/base/time/duration.ts'
import { type SavedSession, ServerUnavailable, SessionEnded } from '../../../src/client/client.ts'
import { PUBLISH_LEAD } from '../../../src/domain/tokens/keys/key-schedule.ts'
import {
  asAdmin,
  CURRENT_IDENTITY,
  connectTo,
  failureOf,
  whoIs,
} from '../../support/client/client-sessions.ts'
import { eventually } from '../../support/eventually.ts'
import { eventsOf } from '../../support/login/refresh.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const refreshesOf = async (service: Service, sessionId: string) =>
  (await eventsOf(service, sessionId)).filter((event) => event === 'token.refreshed').length

test('a session over time', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)
  service.clock.hold()

  await t.test('keeps a token while it is fresh, and refreshes it before it expires', async () => {
    const session = await client.logIn(asAdmin)
    const first = await session.accessToken()
    // D-324: the service asks for a refresh after 18 to 27 minutes.
    service.clock.advance(minutes(17))
    assert.equal(await session.accessToken(), first)
    service.clock.advance(minutes(10))
    const second = await session.accessToken()
    assert.notEqual(second, first)
    assert.equal(decodeJwt(second)['z_asid'], session.id)
    assert.equal(session.claims().auth_time, decodeJwt(first)['auth_time'])
    assert.equal(await refreshesOf(service, session.id), 1)
  })

  await t.test('fifty concurrent calls at the moment of expiry make one refresh', async () => {
    const session = await client.logIn(asAdmin)
    service.clock.advance(minutes(30))
    const tokens = await Promise.all(Array.from({ length: 50 }, () => session.accessToken()))
    assert.equal(new Set(tokens).size, 1)
    assert.equal(await refreshesOf(service, session.id), 1)
    const calls = await Promise.all(Array.from({ length: 10 }, () => whoIs(session)))
    assert.deepEqual(new Set(calls), new Set([ADMIN.username]))
    assert.equal(await refreshesOf(service, session.id), 1)
  })

  await t.test(
    'a call that is refused because of an expired token refreshes, and is repeated',
    async () => {
      // The clock of the client is an hour behind: it takes the token for good.
      const behind = { now: () => service.clock.now() - hours(1), uptime: () => 0 }
      const session = await (
        await connectTo(service, { clock: behind as unknown as typeof service.clock })
      ).logIn(asAdmin)
      const first = await session.accessToken()
      const frozen = service.clock.now() - hours(1)
      behind.now = () => frozen
      service.clock.advance(minutes(31))
      assert.equal(await session.accessToken(), first)
      const calls = await Promise.all(Array.from({ length: 5 }, () => whoIs(session)))
      assert.deepEqual(new Set(calls), new Set([ADMIN.username]))
      assert.equal(await refreshesOf(service, session.id), 1)
    },
  )

  await t.test('a body is sent again with a repeated call', async () => {
    const session = await client.logIn(asAdmin)
    service.clock.advance(minutes(30))
    const name = 'made by a client'
    const response = await session.call('/edge/management/v1/identities', {
      json: { name, type: 'Default', isAdmin: false },
    })
    assert.equal(response.status, 201)
  })

  await t.test('ends where the refresh token has expired too', async () => {
    const session = await client.logIn(asAdmin)
    service.clock.advance(days(2))
    const error = await failureOf(session.accessToken(), SessionEnded)
    assert.equal(error.code, 'invalid_grant')
    await failureOf(session.call(CURRENT_IDENTITY), SessionEnded)
    assert.throws(() => session.save(), SessionEnded)
  })

  await t.test('without a refresh token it ends with its access token', async () => {
    const session = await client.logIn(asAdmin, { scopes: [] })
    service.clock.advance(minutes(29.9))
    assert.equal(await whoIs(session), ADMIN.username)
    service.clock.advance(minutes(1))
    const error = await failureOf(session.accessToken(), SessionEnded)
    assert.equal(error.code, 'EXPIRED')
  })

  await t.test('a session that an administrator ends is over at its next call', async () => {
    const admin = await administrate(service)
    const session = await client.logIn(asAdmin)
    assert.equal(await whoIs(session), ADMIN.username)
    await admin.act('DELETE', `/api-sessions/${session.id}`)
    const error = await failureOf(session.call(CURRENT_IDENTITY), SessionEnded)
    assert.equal(error.code, 'invalid_grant')
    const other = await client.logIn(asAdmin, { scopes: [] })
    await admin.act('DELETE', `/api-sessions/${other.id}`)
    const invalid = await failureOf(other.call(CURRENT_IDENTITY), SessionEnded)
    assert.equal(invalid.code, 'invalid')
    assert.equal(invalid.challenges[0]?.parameters.get('error'), 'invalid')
  })

  await t.test('a logout ends it on the server, also when its tokens have expired', async () => {
    const session = await client.logIn(asAdmin)
    const token = await session.accessToken()
    await session.logout()
    const error = await failureOf(session.accessToken(), SessionEnded)
    assert.equal(error.code, 'LOGGED_OUT')
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await service.call(CURRENT_IDENTITY, { headers })).status, 401)

    const late = await client.logIn(asAdmin)
    service.clock.advance(hours(2))
    await late.logout()
    assert.ok((await eventsOf(service, late.id)).some((event) => event.startsWith('session.ended')))
  })

  await t.test('other refusals are answers like any other', async () => {
    const session = await client.logIn(asAdmin)
    const missing = await session.call('/edge/management/v1/identities/nobody')
    assert.equal(missing.status, 404)
    const wrong = await session.call('/edge/management/v1/identities', {
      body: '{',
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(wrong.status, 400)
    assert.equal(
      ((await wrong.json()) as { error: { code: string } }).error.code,
      'COULD_NOT_PARSE_BODY',
    )
  })

  await t.test('a token goes to no other address', async () => {
    // Attack: a path that comes from elsewhere is an address.
    const session = await client.logIn(asAdmin)
    const paths = ['//evil.example/', 'https://evil.example/', '/\\evil.example/', 'edge', '']
    for (const path of paths) await assert.rejects(session.call(path), TypeError, path)
    const headers = { Authorization: 'Bearer mine' }
    await assert.rejects(session.call(CURRENT_IDENTITY, { headers }), TypeError)
  })

  await t.test('a caller that gives up does not cancel the others', async () => {
    const session = await client.logIn(asAdmin)
    service.clock.advance(minutes(30))
    const leaving = new AbortController()
    const left = session.accessToken({ signal: leaving.signal })
    const staying = session.accessToken()
    leaving.abort(new Error('I have to go'))
    await assert.rejects(left, /I have to go/)
    await assert.rejects(session.accessToken({ signal: leaving.signal }), /I have to go/)
    await assert.rejects(session.call(CURRENT_IDENTITY, { signal: leaving.signal }), /I have to go/)
    assert.equal(decodeJwt(await staying)['z_asid'], session.id)
    assert.equal(await refreshesOf(service, session.id), 1)
  })
})

test('a session that is kept', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)

  await t.test('goes on in another run of the program, with the newest tokens', async () => {
    const kept: SavedSession[] = []
    const onTokens = (saved: SavedSession) => void kept.push(saved)
    const session = await client.logIn(asAdmin, { onTokens })
    await session.refresh()
    assert.equal(kept.length, 2)
    const text = JSON.stringify(kept.at(-1))

    const saved = JSON.parse(text) as SavedSession
    const again = (await connectTo(service, saved)).restore(saved, { onTokens })
    assert.equal(again.id, session.id)
    assert.equal(await again.accessToken(), await session.accessToken())
    service.clock.advance(minutes(40))
    assert.equal(await whoIs(again), ADMIN.username)
    // Once before the keys were fetched, which this run did not have yet, and once when all was verified.
    assert.deepEqual(
      kept.slice(2).map(({ refreshToken }) => refreshToken),
      [again.save().refreshToken, again.save().refreshToken],
    )
    assert.notEqual(again.save().refreshToken, saved.refreshToken)
    assert.deepEqual(kept.at(-1), again.save())
  })

  await t.test('is kept before a new token is handed out', async () => {
    const order: string[] = []
    const session = await client.logIn(asAdmin, {
      onTokens: async ({ accessToken }) => {
        await new Promise((resolve) => setImmediate(resolve))
        order.push(`kept ${accessToken}`)
      },
    })
    service.clock.advance(minutes(40))
    const token = await session.accessToken()
    order.push(`used ${token}`)
    assert.deepEqual(order.slice(1), [`kept ${token}`, `used ${token}`])
  })

  await t.test('a token that cannot be kept is not handed out, and is not lost', async () => {
    let isFull = false
    const session = await client.logIn(asAdmin, {
      onTokens: () => {
        if (isFull) throw new Error('the disk is full')
      },
    })
    service.clock.advance(minutes(40))
    isFull = true
    await assert.rejects(session.accessToken(), /the disk is full/)
    await assert.rejects(session.call(CURRENT_IDENTITY), /the disk is full/)
    isFull = false
    assert.equal(await whoIs(session), ADMIN.username)
    assert.equal(await refreshesOf(service, session.id), 1)
  })

  await t.test('belongs to the server it was made with', async () => {
    const saved = (await client.logIn(asAdmin)).save()
    for (const change of [{ url: 'https://evil.example' }, { api: 'https://evil.example' }]) {
      assert.throws(() => client.restore({ ...saved, ...change }), TypeError)
    }
    assert.throws(() => client.restore({} as SavedSession), TypeError)
  })
})

test('keys that rotate under a session', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)
  const session = await client.logIn(asAdmin)
  const { id: made } = await rotateSigningKeys(service.config)
  await eventually(
    async () => (await keysOf(service)).includes(made.kid) || undefined,
    'the new key is published',
  )
  service.clock.advance(PUBLISH_LEAD)
  await session.refresh()
  assert.equal(decodeProtectedHeader(session.idToken()).kid, made.kid)
  assert.equal(await whoIs(session), ADMIN.username)
})

test('a key that is withdrawn takes the access token along, and not the session', async (t) => {
  // D-23, `--revoke-now`: what was signed with a leaked key is worth nothing any more, from one second to the next.
  const service = await startService(t)
  const client = await connectTo(service)
  const session = await client.logIn(asAdmin)
  const old = decodeProtectedHeader(session.idToken()).kid ?? ''
  await rotateSigningKeys(service.config, 'older-keys')
  await eventually(
    async () => !(await keysOf(service)).includes(old) || undefined,
    'the old key is withdrawn',
  )
  assert.equal(await whoIs(session), ADMIN.username)
  assert.notEqual(decodeProtectedHeader(session.idToken()).kid, old)
})

async function keysOf(service: Service): Promise<readonly string[]> {
  const { keys } = (await service.call('/oidc/keys')).json()
  return keys.map(({ kid }: { readonly kid: string }) => kid)
}

test('an unreachable server is distinguished from one that refuses', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)
  const session = await client.logIn(asAdmin)
  await service.stop()
  const error = await failureOf(session.call(CURRENT_IDENTITY), ServerUnavailable)
  assert.equal(error.code, 'NO_ANSWER')
  // A token that is good yet is handed out all the same.
  service.clock.advance(minutes(29.8))
  assert.ok(await session.accessToken())
  service.clock.advance(minutes(1))
  await failureOf(session.accessToken(), ServerUnavailable)
})
