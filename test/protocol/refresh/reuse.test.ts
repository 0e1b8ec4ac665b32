/**
 * A spent refresh token comes again: a lost answer, or a thief. D-27, R038 to R041; RFC 9700 §4.14.2. The clock
 * stands still and is moved by hand.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  type Duration,
  hours,
  milliseconds,
  minutes,
  seconds,
} from '../../../src/base/time/duration.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { bearer } from '../../support/login/login.ts'
import {
  assertRefreshRefused,
  eventsOf,
  logInOffline,
  type OfflineTokens,
  refresh,
  refreshed,
} from '../../support/login/refresh.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const ISSUED = 'token.issued'
const REFRESHED = 'token.refreshed'
/** D-133: refused, and nothing worse. */
const SPENT = 'token.refused: refresh-token-spent'
const THEFT = ['session.ended: refresh-token-reused', 'token.reused']

const sessionOf = ({ access_token }: OfflineTokens) => String(decodeJwt(access_token)['z_asid'])

async function heldService(t: TestContext, refreshRetryWindow = '0s'): Promise<Service> {
  const service = await startService(t, { config: { edge: { oidc: { refreshRetryWindow } } } })
  service.clock.hold()
  return service
}

/** The session and everything of it is over, here and at once. */
async function assertOver(service: Service, ...all: readonly OfflineTokens[]): Promise<void> {
  for (const { access_token, refresh_token } of all) {
    assert.equal(await answerTo(service, access_token), INVALID)
    const session = await service.call('/edge/client/v1/current-api-session', bearer(access_token))
    assert.equal(session.status, 401)
    assertRefreshRefused(await refresh(service, refresh_token))
  }
}

async function assertAlive(service: Service, { access_token }: OfflineTokens): Promise<void> {
  assert.equal(await answerTo(service, access_token), 'taken')
}

test('a spent refresh token', async (t) => {
  const service = await heldService(t)

  for (const pause of [milliseconds(0), seconds(5), milliseconds(9_999)]) {
    await t.test(
      `is only refused ${pause} ms after its refresh, with its successor unused`,
      async () => {
        // A lost answer or a double click: nobody is punished for it.
        const first = await logInOffline(service)
        const second = await refreshed(service, first.refresh_token)
        service.clock.advance(pause)
        for (let i = 0; i < 3; i++)
          assertRefreshRefused(await refresh(service, first.refresh_token))
        await assertAlive(service, first)
        await assertAlive(service, second)
        const events = await eventsOf(service, sessionOf(first))
        assert.deepEqual(events, [ISSUED, REFRESHED, SPENT, SPENT, SPENT])
        await refreshed(service, second.refresh_token)
      },
    )
  }

  for (const pause of [seconds(10), hours(3)]) {
    await t.test(`R039: ends its session ${pause} ms after its refresh`, async () => {
      // Attack: a copy of the token is tried later, by its thief or by the owner whom the thief was faster than.
      const first = await logInOffline(service)
      const second = await refreshed(service, first.refresh_token)
      service.clock.advance(pause)
      const current = await logInOffline(service)
      assertRefreshRefused(await refresh(service, first.refresh_token))
      await assertOver(service, ...(pause < minutes(30) ? [first, second] : []))
      assertRefreshRefused(await refresh(service, second.refresh_token))
      const events = await eventsOf(service, sessionOf(first))
      assert.deepEqual(events, [...THEFT, ISSUED, REFRESHED].sort())
      await assertAlive(service, current)
      await refreshed(service, current.refresh_token)
    })
  }

  await t.test('R039: ends its session at once when its successor was used', async () => {
    const first = await logInOffline(service)
    const second = await refreshed(service, first.refresh_token)
    const third = await refreshed(service, second.refresh_token)
    await assertAlive(service, third)
    assertRefreshRefused(await refresh(service, first.refresh_token))
    await assertOver(service, first, second, third)
    const events = await eventsOf(service, sessionOf(first))
    assert.deepEqual(events, [...THEFT, ISSUED, REFRESHED, REFRESHED].sort())
  })

  await t.test('R039: ends its session, and no other of the same identity', async () => {
    const [stolen, other] = [await logInOffline(service), await logInOffline(service)]
    await refreshed(service, stolen.refresh_token)
    service.clock.advance(minutes(1))
    await refresh(service, stolen.refresh_token)
    await assertOver(service, stolen)
    await assertAlive(service, other)
    await refreshed(service, other.refresh_token)
    assert.deepEqual(await eventsOf(service, sessionOf(other)), [ISSUED, REFRESHED])
  })

  await t.test('R039: leaves nothing of its session in the store but its ending', async () => {
    const first = await logInOffline(service)
    const { refresh_token } = await refreshed(service, first.refresh_token)
    await refreshed(service, refresh_token)
    await refresh(service, first.refresh_token)
    const id = sessionOf(first)
    const left = async (table: string, column: string) =>
      (await sql(service, `select * from ${table} where ${column} = '${id}'`)).length
    assert.equal(await left('api_sessions', 'id'), 0)
    assert.equal(await left('refresh_tokens', 'session_id'), 0)
    assert.equal(await left('session_endings', 'subject'), 1)
  })

  await t.test('R039: is noticed however far back in the chain it is', async () => {
    let current = await logInOffline(service)
    const first = current
    for (let i = 0; i < 6; i++) {
      service.clock.advance(hours(1))
      current = await refreshed(service, current.refresh_token)
    }
    assertRefreshRefused(await refresh(service, first.refresh_token))
    await assertOver(service, current)
  })

  await t.test('is not noticed by a call that another client makes', async () => {
    // R031: whoever is not our client can neither spend nor end anything.
    const first = await logInOffline(service)
    const second = await refreshed(service, first.refresh_token)
    service.clock.advance(minutes(1))
    const reply = await refresh(service, first.refresh_token, { client_id: 'another' })
    assert.equal(reply.json().error, 'invalid_client')
    await assertAlive(service, second)
  })

  await t.test('the event of a theft says where it came from', async () => {
    const first = await logInOffline(service)
    await refreshed(service, first.refresh_token)
    service.clock.advance(minutes(1))
    const reply = await refresh(service, first.refresh_token)
    const [event] = await sql(
      service,
      `select * from events where type = 'token.reused' and session_id = '${sessionOf(first)}'`,
    )
    assert.equal(event?.['request_id'], reply.headers['x-request-id'])
    assert.equal(event?.['identity_id'], decodeJwt(first.access_token).sub)
    assert.match(String(event?.['address']), /127\.0\.0\.1|::1/)
    assert.equal(JSON.stringify(event).includes('lkr_'), false)
  })
})

test('edge.oidc.refreshRetryWindow', async (t) => {
  const service = await heldService(t, '20s')

  await t.test('R041: gives a repeat the same successor, and fresh access tokens', async () => {
    const first = await logInOffline(service)
    const second = await refreshed(service, first.refresh_token)
    const pauses: readonly Duration[] = [seconds(0), seconds(10), milliseconds(9_999)]
    for (const pause of pauses) {
      service.clock.advance(pause)
      const again = await refreshed(service, first.refresh_token)
      assert.equal(again.refresh_token, second.refresh_token)
      assert.notEqual(again.access_token, second.access_token)
      assert.equal(sessionOf(again), sessionOf(first))
      await assertAlive(service, again)
    }
    await refreshed(service, second.refresh_token)
  })

  await t.test('R041: the successor is as long as any other, and is not stored', async () => {
    const first = await logInOffline(service)
    const { refresh_token } = await refreshed(service, first.refresh_token)
    assert.match(refresh_token, /^lkr_[A-Za-z0-9_-]{43}$/)
    const stored = JSON.stringify(await sql(service, 'select * from refresh_tokens'))
    assert.equal(stored.includes(refresh_token.slice(4)), false)
  })

  await t.test('R041: ends as soon as the successor is used; then it is theft', async () => {
    const first = await logInOffline(service)
    const second = await refreshed(service, first.refresh_token)
    const third = await refreshed(service, second.refresh_token)
    assertRefreshRefused(await refresh(service, first.refresh_token))
    await assertOver(service, first, second, third)
  })

  await t.test('R041: ends with its time', async () => {
    const first = await logInOffline(service)
    const second = await refreshed(service, first.refresh_token)
    service.clock.advance(seconds(20))
    assertRefreshRefused(await refresh(service, first.refresh_token))
    await assertOver(service, first, second)
  })

  await t.test('R041: a repeat may ask for another scope, and never for more', async () => {
    const first = await logInOffline(service)
    const second = await refreshed(service, first.refresh_token)
    const narrow = await refreshed(service, first.refresh_token, { scope: 'openid' })
    assert.equal(narrow.refresh_token, second.refresh_token)
    assert.equal(decodeJwt(narrow.access_token)['scope'], 'openid')
    const wider = await refresh(service, first.refresh_token, { scope: 'openid profile' })
    assert.equal(wider.json().error, 'invalid_scope')
    await refreshed(service, second.refresh_token)
  })

  await t.test(
    'R041: tabs that refresh at the same moment all get the same successor',
    async () => {
      const first = await logInOffline(service)
      const tabs = Array.from({ length: 20 }, () => refreshed(service, first.refresh_token))
      const all = await Promise.all(tabs)
      const successors = new Set(all.map(({ refresh_token }) => refresh_token))
      assert.equal(successors.size, 1)
      await refreshed(service, [...successors][0] ?? '')
    },
  )

  await t.test('R041: a repeat after the logout gets nothing', async () => {
    const first = await logInOffline(service)
    await refreshed(service, first.refresh_token)
    await service.call(`/oidc/end_session?id_token_hint=${first.id_token}`)
    assertRefreshRefused(await refresh(service, first.refresh_token))
  })
})
