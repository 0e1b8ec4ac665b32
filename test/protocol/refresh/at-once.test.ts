/**
 * Refreshes at the same moment, on one instance with SQLite and on two with PostgreSQL: exactly one line survives, no
 * refresh and no logout fails because of another, and a rotation of the signing key loses none. R040, R062.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { rotateSigningKeys } from '../../../src/app/installation/rotate-signing-keys.ts'
import { PUBLISH_LEAD } from '../../../src/domain/tokens/keys/key-schedule.ts'
import { clockOfStandingUptime } from '../../support/clocks/uptime-clock.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import {
  assertRefreshRefused,
  eventsOf,
  logInOffline,
  refresh,
  refreshed,
  revoke,
} from '../../support/login/refresh.ts'
import { type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'
import { sql } from '../../support/stores/sql.ts'

after(async () => (await startPostgres()).stop())

const FIFTY = Array.from({ length: 50 }, (_, i) => i)

/** Instances that share a database; calls are spread over them. */
const SETUPS: Readonly<Record<string, (t: TestContext) => Promise<[Service, Service]>>> = {
  SQLite: async (t) => {
    const service = await startService(t, { clock: clockOfStandingUptime() })
    return [service, service]
  },
  'PostgreSQL with two instances': async (t) => {
    const shared = await installation(await migratedDatabase())
    const clock = clockOfStandingUptime()
    return Promise.all([shared.start(t, { clock }), shared.start(t, { clock })])
  },
}

for (const [name, start] of Object.entries(SETUPS)) {
  test(`refreshes at once on ${name}`, async (t) => {
    const instances = await start(t)
    const [one, other] = instances
    one.clock.hold()
    const at = (i: number): Service => (i % 2 === 0 ? one : other)

    await t.test('R040: of fifty refreshes of one token exactly one line survives', async () => {
      const first = await logInOffline(one)
      const replies = await Promise.all(FIFTY.map((i) => refresh(at(i), first.refresh_token)))
      const won = replies.filter(({ status }) => status === 200)
      assert.equal(won.length, 1)
      for (const reply of replies) if (reply.status !== 200) assertRefreshRefused(reply)

      const sessionId = String(decodeJwt(first.access_token)['z_asid'])
      const unspent = await sql(
        one,
        `select hash from refresh_tokens where session_id = '${sessionId}' and spent_at is null`,
      )
      assert.equal(unspent.length, 1)
      const events = await eventsOf(one, sessionId)
      const refused = events.filter((event) => event === 'token.refused: refresh-token-spent')
      // D-207: ten per minute at each instance, and one row that counts the others; twice if a minute ends in between.
      assert.ok(refused.length > 0 && refused.length <= 2 * (10 * new Set(instances).size + 1))
      assert.deepEqual(events, ['token.issued', 'token.refreshed', ...refused])
      const second = await refreshed(other, won[0]?.json().refresh_token)
      assert.equal(await answerTo(one, second.access_token), 'taken')
    })

    await t.test(
      'R039: repeating one of them after its successor was used ends the session',
      async () => {
        const first = await logInOffline(one)
        const replies = await Promise.all(FIFTY.map((i) => refresh(at(i), first.refresh_token)))
        const won = replies.find(({ status }) => status === 200)
        const second = await refreshed(one, won?.json().refresh_token)
        await Promise.all(FIFTY.map((i) => refresh(at(i), first.refresh_token)))
        assertRefreshRefused(await refresh(other, second.refresh_token))
        assert.equal(await answerTo(one, second.access_token), INVALID)
        const sessionId = String(decodeJwt(first.access_token)['z_asid'])
        const events = await eventsOf(one, sessionId)
        const ends = events.filter((event) => event.startsWith('session.ended'))
        assert.deepEqual(ends, ['session.ended: refresh-token-reused'])
      },
    )

    await t.test(
      'fifty sessions of one identity refresh at the same moment, all of them',
      async () => {
        const sessions = await Promise.all(FIFTY.map((i) => logInOffline(at(i))))
        const all = await Promise.all(
          sessions.map(({ refresh_token }, i) => refreshed(at(i + 1), refresh_token)),
        )
        assert.equal(new Set(all.map(({ refresh_token }) => refresh_token)).size, 50)
      },
    )

    await t.test(
      'a refresh and the end of its session never fail because of each other',
      async () => {
        // Whichever comes first: afterwards the session is over, and neither was an error of the service.
        for (let i = 0; i < 24; i++) {
          const tokens = await logInOffline(one)
          const [answer, end] = await Promise.all([
            refresh(one, tokens.refresh_token),
            sleep(i % 12).then(() => revoke(other, tokens.refresh_token)),
          ])
          assert.equal(end.status, 200, end.text)
          if (answer.status === 200) {
            assertRefreshRefused(await refresh(one, answer.json().refresh_token))
          } else {
            assertRefreshRefused(answer)
          }
          assertRefreshRefused(await refresh(other, tokens.refresh_token))
        }
      },
    )
  })
}

test('R062: a signing key is rotated under refreshes, and none of them is lost', async (t) => {
  const service = await startService(t)
  const before = decodeProtectedHeader((await logInOffline(service)).access_token).kid
  const { access: made } = await rotateSigningKeys(service.config)
  const chains = await Promise.all(FIFTY.slice(0, 4).map(() => logInOffline(service)))
  const kids: (string | undefined)[] = []
  let isOver = false
  const published = async () => {
    const { keys } = (await service.call('/oidc/keys')).json()
    return keys.some(({ kid }: { kid: string }) => kid === made.kid)
  }
  const workers = chains.map(async (first) => {
    let current = first
    while (!isOver) {
      const next = await refreshed(service, current.refresh_token)
      // What was signed before and after: all of it is taken, whichever key it has.
      assert.equal(await answerTo(service, current.access_token), 'taken')
      assert.equal(await answerTo(service, next.access_token), 'taken')
      kids.push(decodeProtectedHeader(next.access_token).kid)
      current = next
      await sleep(20)
    }
  })
  const patience = AbortSignal.timeout(60_000)
  while (!(await published())) {
    assert.equal(patience.aborted, false, 'the key is never published')
    await sleep(100)
  }
  // Published, and not used before its time; then used from one refresh to the next.
  const known = kids.length
  service.clock.advance(PUBLISH_LEAD)
  while (!kids.slice(known).includes(made.kid)) {
    assert.equal(patience.aborted, false, 'the key never signs')
    await sleep(20)
  }
  isOver = true
  await Promise.all(workers)
  assert.deepEqual(new Set(kids), new Set([before, made.kid]))
  assert.equal(kids.indexOf(made.kid) >= known, true)
})
