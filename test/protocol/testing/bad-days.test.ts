/**
 * Every scenario of a fake server, and `latchkey/client` in it: it does what the scenario says that a good client does.
 * D-326, D-150, D-153.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  connect,
  FactorRequired,
  LoginRefused,
  RateLimited,
  Refused,
  type SavedSession,
  ServerUnavailable,
  type Session,
  SessionEnded,
  UntrustedServer,
} from '../../../src/client/client.ts'
import { SCENARIO_NAMES, startFakeServer } from '../../../src/testing/testing.ts'

const WHO = '/edge/client/v1/current-identity'

/** The scenarios that a test below is about. */
const covered = new Set<string>()

const server = await startFakeServer()
const client = await connect({ url: server.url, ca: server.ca })
after(async () => {
  client.close()
  await server.stop()
  assert.deepEqual([...covered].toSorted(), SCENARIO_NAMES.toSorted(), 'every scenario is tested')
})

function scenario(
  name: (typeof SCENARIO_NAMES)[number],
  title: string,
  run: (session: Session, requestsSince: () => readonly string[]) => Promise<void>,
): void {
  covered.add(name)
  test(`${name}: ${title}`, async () => {
    const session = await client.logIn({ method: 'password', ...server.alice })
    await server.begin(name)
    const begun = server.requests.length
    await run(session, () => server.requests.slice(begun))
  })
}

async function whoIs(session: Pick<Session, 'call'>): Promise<string> {
  const response = await session.call(WHO)
  assert.equal(response.status, 200)
  return ((await response.json()) as { data: { name: string } }).data.name
}

scenario(
  'lost-refresh',
  'sends the same token again, and the session goes on',
  async (session, since) => {
    await session.refresh()
    assert.deepEqual(since(), ['POST /oidc/token refresh_token', 'POST /oidc/token refresh_token'])
    assert.equal(await whoIs(session), 'alice')
    await session.refresh()
  },
)

scenario(
  'challenge-expired',
  'refreshes once and repeats the call once',
  async (session, since) => {
    assert.equal(await whoIs(session), 'alice')
    assert.deepEqual(since(), [`GET ${WHO}`, 'POST /oidc/token refresh_token', `GET ${WHO}`])
  },
)

scenario(
  'challenge-invalid',
  'refreshes once and repeats the call once',
  async (session, since) => {
    assert.equal(await whoIs(session), 'alice')
    assert.deepEqual(since(), [`GET ${WHO}`, 'POST /oidc/token refresh_token', `GET ${WHO}`])
  },
)

scenario('challenge-missing', 'hands the refusal to the program', async (session, since) => {
  const response = await session.call(WHO)
  assert.equal(response.status, 401)
  assert.deepEqual(since(), [`GET ${WHO}`])
})

scenario('challenge-zt-session', 'hands the refusal to the program', async (session, since) => {
  assert.equal((await session.call(WHO)).status, 401)
  assert.deepEqual(since(), [`GET ${WHO}`])
})

for (const [name, word] of [
  ['challenge-primary-jwt', 'missing'],
  ['challenge-primary-jwt-expired', 'expired'],
  ['challenge-primary-jwt-invalid', 'invalid'],
] as const) {
  scenario(name, 'hands the refusal to the program', async (session, since) => {
    const response = await session.call(WHO)
    assert.equal(response.status, 401)
    const challenge = response.headers.get('www-authenticate') ?? ''
    assert.match(challenge, /realm="service-primary-ext-jwt"/)
    assert.match(challenge, new RegExp(`error="${word}".*issuer="https://idp.example"`))
    assert.deepEqual(since(), [`GET ${WHO}`])
  })
}

for (const name of [
  'challenge-secondary-jwt',
  'challenge-secondary-jwt-expired',
  'challenge-secondary-jwt-invalid',
] as const) {
  scenario(name, 'says which signer is needed', async (session, since) => {
    await assert.rejects(
      session.call(WHO),
      (error) =>
        error instanceof FactorRequired &&
        error.queries.some(
          (query) => query.typeId === 'EXT-JWT' && query.issuer === 'https://idp.example',
        ),
    )
    assert.deepEqual(since(), [`GET ${WHO}`])
  })
}

scenario('rate-limited', 'keeps the session, and says how long to wait', async (session) => {
  const error = await session.refresh().then(
    () => assert.fail('it has to wait'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof RateLimited && error.retryAfterSeconds === 1, String(error))
  assert.equal(error.next, 'wait')
  assert.equal(await whoIs(session), 'alice')
})

scenario('unavailable', 'uses a valid token, and says how long to wait', async (session) => {
  const error = await session.refresh().then(
    () => assert.fail('it has to wait'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ServerUnavailable && error.retryAfterSeconds === 1, String(error))
  assert.equal(error.mayHaveHappened, false)
  assert.equal(await whoIs(session), 'alice')
  await session.refresh()
})

scenario('slow', 'waits, and asks once', async (session, since) => {
  assert.equal(await whoIs(session), 'alice')
  assert.deepEqual(since(), [`GET ${WHO}`])
})

scenario(
  'cut',
  'uses nothing of half an answer, and says that it may have happened',
  async (session) => {
    const error = await session.call(WHO).then(
      () => assert.fail('half an answer is none'),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof ServerUnavailable && error.mayHaveHappened, String(error))
    assert.equal(await whoIs(session), 'alice')
  },
)

scenario('clock-ahead', 'goes on, and can log in again', async (session) => {
  assert.equal(await whoIs(session), 'alice')
  await session.refresh()
  assert.equal(await whoIs(session), 'alice')
  await client.logIn({ method: 'password', ...server.alice })
  await server.begin('clock-behind')
})

scenario('clock-behind', 'goes on, and can log in again', async (session) => {
  assert.equal(await whoIs(session), 'alice')
  await session.refresh()
  assert.equal(await whoIs(session), 'alice')
  await client.logIn({ method: 'password', ...server.alice })
  await server.begin('clock-ahead')
})

scenario(
  'key-rotation',
  'refreshes once the old token is refused, and fetches the new key',
  async (session) => {
    const before = await session.accessToken()
    // Instances follow a withdrawn key within a second (D-135).
    while ((await whoIs(session)) === 'alice' && (await session.accessToken()) === before) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.notEqual(await session.accessToken(), before)
    assert.equal(await whoIs(session), 'alice')
  },
)

scenario(
  'second-factor',
  'ends the session, and a new login asks for the factor',
  async (session) => {
    const error = await ended(session)
    assert.ok(error instanceof SessionEnded, String(error))
    assert.equal(error.next, 'sign-in')
    await assert.rejects(
      client.logIn({ method: 'password', ...server.alice }),
      (reason) => reason instanceof FactorRequired || reason instanceof Refused,
    )
  },
)

covered.add('restored-backup')
test('restored-backup: ends the session, and a new login works', async () => {
  const own = await startFakeServer()
  const other = await connect({ url: own.url, ca: own.ca })
  try {
    let saved: SavedSession | undefined
    const session = await other.logIn(
      { method: 'password', ...own.alice },
      {
        onTokens: (tokens) => {
          saved = tokens
        },
      },
    )
    await own.begin('restored-backup')
    assert.ok((await ended(session)) instanceof SessionEnded)
    assert.ok(saved !== undefined)
    // What was stored is of no use either, and is tried once.
    const begun = own.requests.length
    const stored = await other.restore(saved)
    assert.ok((await ended(stored)) instanceof SessionEnded)
    const tries = own.requests.slice(begun).filter((request) => request.includes('refresh_token'))
    assert.equal(tries.length, 1)
    const again = await other.logIn({ method: 'password', ...own.alice })
    assert.equal(await whoIs(again), 'alice')
    await assert.rejects(
      other.logIn({ method: 'password', username: 'alice', password: 'wrong' }),
      LoginRefused,
    )
  } finally {
    other.close()
    await own.stop()
  }
})

covered.add('expired-ca')
test('expired-ca: trusts nobody with an expired CA, and sends nothing', async () => {
  const own = await startFakeServer({ script: [{ after: 'start', scenario: 'expired-ca' }] })
  try {
    const begun = own.requests.length
    await assert.rejects(connect({ url: own.url, ca: own.ca }), UntrustedServer)
    assert.equal(own.requests.length, begun)
  } finally {
    await own.stop()
  }
})

/** Calls until the session has noticed; the refusal takes effect within a second (D-34). */
async function ended(session: Session): Promise<unknown> {
  for (;;) {
    try {
      await whoIs(session)
    } catch (error) {
      return error
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}
