/**
 * `latchkey/client` towards a server whose answers get lost: D-27, D-115, D-150. A proxy forwards the refresh and cuts
 * the connection before, or in the middle of, the answer; the service has spent the token by then.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import {
  type Client,
  type SavedSession,
  ServerUnavailable,
  SessionEnded,
} from '../../../src/client/client.ts'
import {
  asAdmin,
  connectThrough,
  failureOf,
  whoIs,
  withPassword,
} from '../../support/client/client-sessions.ts'
import {
  type Meddling,
  type MeddlingProxy,
  startBehindProxy,
} from '../../support/client/meddling-proxy.ts'
import { enrolledPerson } from '../../support/login/authenticator-app.ts'
import { eventsOf } from '../../support/login/refresh.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, type Service } from '../../support/service.ts'

interface World {
  readonly service: Service
  readonly proxy: MeddlingProxy
  readonly client: Client
}

async function worldWith(t: TestContext, refreshRetryWindow: string): Promise<World> {
  const config = { edge: { oidc: { refreshRetryWindow } } }
  const { service, proxy } = await startBehindProxy(t, { config })
  service.clock.hold()
  // One response below never comes, and the client waits for it; every other one must arrive, even on a busy machine.
  const timeoutMilliseconds = 8_000
  return { service, proxy, client: await connectThrough(proxy, service, { timeoutMilliseconds }) }
}

/** The next `count` refreshes meet this; what comes after them is left alone. */
function meddleWithRefreshes(proxy: MeddlingProxy, count: number, meddling: Meddling): void {
  let left = count
  proxy.meddle(({ target, body }) => {
    if (target !== '/oidc/token' || !body.includes('grant_type=refresh_token')) return undefined
    left -= 1
    return left < 0 ? undefined : meddling
  })
}

/** The refresh tokens that were sent, in order. */
function sentTokens({ tokenForms }: MeddlingProxy): readonly (string | null)[] {
  return tokenForms
    .filter((form) => form.get('grant_type') === 'refresh_token')
    .map((form) => form.get('refresh_token'))
}

const LOSSES: readonly (readonly [string, Meddling])[] = [
  ['is cut before it begins', { cut: 'after' }],
  ['is cut in the middle', { cut: 'middle' }],
  [
    'is replaced by a 502 of a proxy',
    { answer: () => ({ status: 502, headers: {}, body: '<h1>Bad Gateway</h1>' }) },
  ],
]

test('where the server has a window for repeats', async (t) => {
  const world = await worldWith(t, '1m')
  const { service, proxy, client } = world

  for (const [what, loss] of LOSSES) {
    for (const times of [1, 2]) {
      await t.test(`the session goes on when an answer ${what}, ${times} times`, async () => {
        const kept: SavedSession[] = []
        const session = await client.logIn(asAdmin, {
          dpop: 'never',
          onTokens: (saved) => void kept.push(saved),
        })
        const first = session.save().refreshToken
        const before = sentTokens(proxy).length
        service.clock.advance(minutes(30))
        meddleWithRefreshes(proxy, times, loss)
        assert.equal(await whoIs(session), ADMIN.username)
        // The same token again, at once, and nothing else.
        const sent = sentTokens(proxy).slice(before)
        assert.deepEqual(
          sent,
          Array.from({ length: times + 1 }, () => first),
        )
        assert.equal(kept.length, 2)
        await session.refresh()
        assert.equal(sentTokens(proxy).at(-1), kept[1]?.refreshToken)
        const events = await eventsOf(service, session.id)
        assert.equal(events.includes('token.reused'), false)
      })
    }
  }

  await t.test('the session goes on when no answer comes in time', async () => {
    const session = await client.logIn(asAdmin, { dpop: 'never' })
    meddleWithRefreshes(proxy, 1, { silent: 'after' })
    await session.refresh()
    assert.equal(await whoIs(session), ADMIN.username)
  })

  await t.test('after three losses a token that is good yet serves on', async () => {
    const session = await client.logIn(asAdmin, { dpop: 'never' })
    const before = sentTokens(proxy).length
    service.clock.advance(minutes(29.75))
    meddleWithRefreshes(proxy, 3, { cut: 'after' })
    const token = await session.accessToken()
    assert.equal(sentTokens(proxy).length - before, 3)
    // In doubt: the refresh token is not sent again while there is something to lose.
    assert.equal(await session.accessToken(), token)
    assert.equal(await whoIs(session), ADMIN.username)
    assert.equal(sentTokens(proxy).length - before, 3)
    service.clock.advance(minutes(0.5))
    assert.notEqual(await session.accessToken(), token)
    assert.equal(sentTokens(proxy).length - before, 4)
    assert.equal(await whoIs(session), ADMIN.username)
  })
})

test('where the server has no window for repeats', async (t) => {
  const world = await worldWith(t, '0s')
  const { service, proxy, client } = world

  await t.test('a lost answer ends the session, and the error says so', async () => {
    const session = await client.logIn(asAdmin, { dpop: 'never' })
    const before = sentTokens(proxy).length
    service.clock.advance(minutes(30))
    meddleWithRefreshes(proxy, 1, { cut: 'after' })
    const all = Array.from({ length: 10 }, () => failureOf(session.accessToken(), SessionEnded))
    const [error] = await Promise.all(all)
    assert.equal(error?.code, 'invalid_grant')
    assert.match(error?.message ?? '', /lost/)
    assert.equal(sentTokens(proxy).length - before, 2)
    // Nobody sends it a third time: that would look like a thief.
    await failureOf(session.accessToken(), SessionEnded)
    await failureOf(session.refresh(), SessionEnded)
    assert.equal(sentTokens(proxy).length - before, 2)
    assert.equal((await eventsOf(service, session.id)).includes('token.reused'), false)
    // What is left of it on the server can be ended.
    await session.logout()
    const events = await eventsOf(service, session.id)
    assert.ok(events.some((event) => event.startsWith('session.ended')))
  })

  await t.test('a request that never arrived is simply sent again', async () => {
    const session = await client.logIn(asAdmin, { dpop: 'never' })
    service.clock.advance(minutes(30))
    meddleWithRefreshes(proxy, 2, { cut: 'before' })
    assert.equal(await whoIs(session), ADMIN.username)
    const events = await eventsOf(service, session.id)
    assert.equal(events.filter((event) => event === 'token.refreshed').length, 1)
  })

  await t.test('a server that is too busy is not asked again at once', async () => {
    const session = await client.logIn(asAdmin, { dpop: 'never' })
    const before = sentTokens(proxy).length
    service.clock.advance(minutes(30))
    const busy = {
      status: 503,
      headers: { 'content-type': 'application/json', 'retry-after': '7' },
      body: '{"error":"temporarily_unavailable","error_description":"wait"}',
    }
    meddleWithRefreshes(proxy, 1, { instead: busy })
    const error = await failureOf(session.accessToken(), ServerUnavailable)
    assert.equal(error.code, 'temporarily_unavailable')
    assert.equal(error.retryAfterSeconds, 7)
    assert.equal(error.mayHaveHappened, false)
    assert.equal(sentTokens(proxy).length - before, 1)
    assert.equal(await whoIs(session), ADMIN.username)
  })

  await t.test('an answer that cannot be read is not asked for again', async () => {
    const session = await client.logIn(asAdmin, { dpop: 'never' })
    const before = sentTokens(proxy).length
    service.clock.advance(minutes(30))
    meddleWithRefreshes(proxy, 1, { answer: (answer) => ({ ...answer, body: 'garbage' }) })
    await assert.rejects(session.accessToken(), { code: 'UNEXPECTED_ANSWER' })
    assert.equal(sentTokens(proxy).length - before, 1)
  })

  await t.test('keys that cannot be fetched cost no refresh token', async () => {
    const kept: SavedSession[] = []
    const saved = (await client.logIn(asAdmin, { dpop: 'never' })).save()
    const fresh = await connectThrough(proxy, service)
    const session = fresh.restore(saved, { onTokens: (newer) => void kept.push(newer) })
    proxy.meddle(({ target }) => (target === '/oidc/keys' ? { cut: 'before' } : undefined))
    service.clock.advance(minutes(30))
    await failureOf(session.accessToken(), ServerUnavailable)
    assert.ok(kept.length > 0)
    assert.notEqual(kept.at(-1)?.refreshToken, saved.refreshToken)
    proxy.meddle(undefined)
    assert.equal(await whoIs(session), ADMIN.username)
  })
})

test('the exchange of a code is never repeated', async (t) => {
  // D-7: a code that comes twice ends the session that came from it.
  const { proxy, client } = await worldWith(t, '1m')
  proxy.meddle(({ target }) => (target === '/oidc/token' ? { cut: 'after' } : undefined))
  const error = await failureOf(client.logIn(asAdmin), ServerUnavailable)
  assert.equal(error.code, 'NO_ANSWER')
  assert.equal(error.mayHaveHappened, true)
  assert.equal(proxy.tokenForms.length, 1)
  proxy.meddle(undefined)
  assert.equal(await whoIs(await client.logIn(asAdmin)), ADMIN.username)
})

test('a call that changes something is not repeated when its answer is lost', async (t) => {
  const { proxy, client } = await worldWith(t, '0s')
  const session = await client.logIn(asAdmin)
  const path = '/edge/management/v1/identities'
  proxy.meddle(({ method }) => (method === 'POST' ? { cut: 'after' } : undefined))
  const json = { name: 'made once', type: 'Default', isAdmin: false }
  const error = await failureOf(session.call(path, { json }), ServerUnavailable)
  assert.equal(error.mayHaveHappened, true)
  assert.equal(proxy.seen.filter((line) => line === `POST ${path}`).length, 1)
})

test('a logout whose answer is lost can be done again, and so can a login', async (t) => {
  const { service, proxy, client } = await worldWith(t, '0s')
  const session = await client.logIn(asAdmin)
  proxy.meddle(({ target }) => (target === '/oidc/end_session' ? { cut: 'after' } : undefined))
  const error = await failureOf(session.logout(), ServerUnavailable)
  assert.equal(error.mayHaveHappened, true)
  proxy.meddle(undefined)
  await session.logout()

  // A code of the app is spent then, and is not sent again by the library: the next login needs the next one.
  const person = await enrolledPerson(service, await administrate(service))
  const totp = () => person.app.nextCode()
  proxy.meddle(({ target }) => (target === '/oidc/login/totp' ? { cut: 'after' } : undefined))
  const before = proxy.seen.length
  await failureOf(client.logIn(withPassword(person), { totp }), ServerUnavailable)
  const sent = proxy.seen.slice(before).filter((line) => line.startsWith('POST /oidc/login/totp'))
  assert.equal(sent.length, 1)
  proxy.meddle(undefined)
  assert.equal(await whoIs(await client.logIn(withPassword(person), { totp })), person.name)
})
