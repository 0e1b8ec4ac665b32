/**
 * Guesses at the same moment. D-22; R079, R081. Attack: a hundred guesses in parallel, so that each sees a count that
 * none of the others has raised yet; or so many that nobody else is served.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockOfStandingUptime } from '../../support/clocks/uptime-clock.ts'
import { onceReady } from '../../support/http-client.ts'
import { authenticate, CLIENT_API } from '../../support/login/legacy.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'a password of somebody'
/** No limit by address, which would stop the guesses before they are counted; room for all of them in the queue. */
const CONFIG = { edge: { limits: { failuresPerAddress: 0 }, passwords: { queue: 1_000 } } }

async function somebody(admin: Administrator, maxAttempts: number) {
  const policy = await admin.createPolicy({
    primary: { updb: { allowed: true, maxAttempts, lockoutDurationMinutes: 60 } },
  })
  return admin.createIdentity({ password: PASSWORD, policy })
}

async function guessAtOnce(services: readonly Service[], username: string, times: number) {
  const replies = await Promise.all(
    Array.from({ length: times }, (_, i) => {
      const service = services[i % services.length]
      assert.ok(service)
      return onceReady(() => authenticate(service, { username, password: `guess number ${i}` }))
    }),
  )
  for (const reply of replies) assertRefused(reply, 401, 'INVALID_AUTH')
}

async function failuresOf(service: Service, username: string): Promise<number> {
  const statement = `select failed_attempts from authenticators where username = '${username}'`
  return Number((await sql(service, statement))[0]?.['failed_attempts'])
}

test('R079: 100 guesses at the same moment count as 100', async (t) => {
  const service = await startService(t, { config: CONFIG, clock: clockOfStandingUptime() })
  const admin = await administrate(service)

  await t.test('at 101 attempts none of them locks, and one more does', async () => {
    const ada = await somebody(admin, 101)
    await guessAtOnce([service], ada.username, 100)
    assert.equal(await failuresOf(service, ada.username), 100)
    await guessAtOnce([service], ada.username, 1)
    assertRefused(await authenticate(service, ada), 401, 'INVALID_AUTH')
  })

  await t.test('at 100 attempts the password is locked afterwards', async () => {
    const ada = await somebody(admin, 100)
    await guessAtOnce([service], ada.username, 100)
    assertRefused(await authenticate(service, ada), 401, 'INVALID_AUTH')
  })

  await t.test(
    'one more than the attempts, right, among the guesses, opens nothing late',
    async () => {
      const ada = await somebody(admin, 5)
      await guessAtOnce([service], ada.username, 20)
      const replies = await Promise.all(Array.from({ length: 5 }, () => authenticate(service, ada)))
      for (const reply of replies) assertRefused(reply, 401, 'INVALID_AUTH')
    },
  )
})

test('R079: guesses on two instances count together', async (t) => {
  const shared = await installation(await migratedDatabase())
  const a = await shared.start(t, { config: CONFIG, clock: clockOfStandingUptime() })
  const b = await shared.start(t, { config: CONFIG, clock: a.clock })
  const admin = await administrate(a)

  await t.test('100 at the same moment are 100, and lock on both', async () => {
    const [ada, bob] = [await somebody(admin, 101), await somebody(admin, 100)]
    // The other instance knows the new policies once it has read them.
    await untilKnown(b, [ada, bob])
    await guessAtOnce([a, b], ada.username, 100)
    assert.equal(await failuresOf(a, ada.username), 100)
    await guessAtOnce([a, b], bob.username, 100)
    for (const instance of [a, b]) {
      assertRefused(await authenticate(instance, bob), 401, 'INVALID_AUTH')
    }
  })

  await t.test('a lock of one holds on the other, and an unlocking too', async () => {
    const ada = await somebody(admin, 2)
    await untilKnown(b, [ada])
    await guessAtOnce([a, b], ada.username, 2)
    assertRefused(await authenticate(b, ada), 401, 'INVALID_AUTH')
    const [{ id }] = await admin.get(`/identities/${ada.id}/authenticators`)
    await admin.act('POST', `/authenticators/${id}/unlock`)
    assert.equal((await authenticate(b, ada)).status, 200)
  })
})

/** D-34: within a second. A right password counts for nothing, so asking changes nothing. */
async function untilKnown(
  instance: Service,
  people: readonly { username: string; password: string }[],
): Promise<void> {
  for (const person of people) {
    const patience = AbortSignal.timeout(60_000)
    while ((await authenticate(instance, person)).status !== 200) {
      assert.equal(patience.aborted, false, 'the policy never arrives')
    }
  }
}

test('R081: 200 wrong passwords at once leave everything else answering', async (t) => {
  const config = {
    edge: { limits: { failuresPerAddress: 0 }, passwords: { hashing: 1, queue: 1_000 } },
  }
  const service = await startService(t, { config, hashing: 'as shipped' })
  const { access_token } = await logIn(service)
  let answered = 0
  const guesses = Array.from({ length: 200 }, (_, i) =>
    authenticate(service, { username: `nobody-${i}`, password: 'a guess' }).then((reply) => {
      answered += 1
      return reply
    }),
  )
  // The first one is answered, so hashing is under way, and what is asked now stands behind the guesses.
  await Promise.race(guesses)
  const calls = await Promise.all([
    service.call('/version'),
    service.call(`${CLIENT_API}/version`),
    service.call(`${CLIENT_API}/current-identity`, bearer(access_token)),
    service.call('/oidc/keys'),
  ])
  assert.ok(answered < 200, 'guesses are still waiting for their turn')
  for (const call of calls) assert.equal(call.status, 200, call.text)
  for (const reply of await Promise.all(guesses)) assertRefused(reply, 401, 'INVALID_AUTH')
})

test('D-22: a full queue is answered 503 with Retry-After, and causes no lock', async (t) => {
  const config = {
    edge: { limits: { failuresPerAddress: 0 }, passwords: { hashing: 1, queue: 2 } },
  }
  const service = await startService(t, { config, hashing: 'as shipped' })
  const admin = await administrate(service)
  const ada = await somebody(admin, 100)
  const replies = await Promise.all(
    Array.from({ length: 60 }, () =>
      authenticate(service, { username: ada.username, password: 'a guess' }),
    ),
  )
  const refused = replies.filter(({ status }) => status === 503)
  assert.ok(refused.length > 0 && refused.length < 60, `${refused.length} of 60`)
  for (const reply of refused) {
    assertRefused(reply, 503, 'SERVER_TOO_BUSY')
    assert.match(String(reply.headers['retry-after']), /^[1-9]\d*$/)
    assert.equal(reply.headers['www-authenticate'], undefined)
  }
  const judged = replies.filter(({ status }) => status === 401).length
  assert.equal(judged + refused.length, 60)
  assert.equal(await failuresOf(service, ada.username), judged, 'only what was judged counts')
})
