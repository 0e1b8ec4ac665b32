/** GET /events: the audit log, as an administrator searches it. API 2, 3.3, 4.8; D-133; R109. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { hours, minutes, seconds } from '../../../src/base/time/duration.ts'
import { EventListReply, EventReply } from '../../../src/contract/management/events.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  beginLogin,
  exchange,
  obtainCode,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import {
  assertRefreshRefused,
  logInOffline,
  refresh,
  refreshed,
} from '../../support/login/refresh.ts'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'a password of somebody'

async function list(admin: Administrator, query: string) {
  const reply = await admin.call('GET', `/events?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return EventListReply.parse(reply.json())
}

const filtered = (filter: string) => `filter=${encodeURIComponent(filter)}`

/** What an administrator finds by the request id that somebody read out to him. */
async function eventsOf(admin: Administrator, reply: Reply) {
  const requestId = reply.headers['x-request-id']
  const { data } = await list(admin, filtered(`requestId = "${requestId}"`))
  return data
}

test('the list of events', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ada = await admin.createIdentity({ name: 'ada', password: PASSWORD })
  const { authRequestId } = await beginLogin(service)
  const wrong = await submitPassword(service, authRequestId, { username: 'ada', password: 'wrong' })
  assert.equal(wrong.status, 401)

  await t.test('API 4.8: an event says what, when, who, from where, and why', async () => {
    const [event, ...more] = await eventsOf(admin, wrong)
    assert.deepEqual(more, [])
    const { id, at, ...rest } = event ?? assert.fail('there is none')
    assert.ok(Math.abs(Date.parse(at) - service.clock.now()) < 60_000)
    assert.deepEqual(rest, {
      type: 'login.failed',
      identityId: ada.id,
      identityName: 'ada',
      sessionId: null,
      actorId: null,
      actorName: null,
      address: '127.0.0.1',
      requestId: wrong.headers['x-request-id'],
      userAgent: null,
      count: 1,
      reason: 'wrong-password',
      details: { method: 'password', username: 'ada' },
      _links: { self: { href: `./events/${id}` } },
    })
    const one = EventReply.parse((await admin.call('GET', `/events/${id}`)).json())
    assert.deepEqual(one.data, event)
  })

  await t.test('the newest comes first, page by page', async () => {
    const { data, meta } = await list(admin, 'limit=500')
    const times = data.map(({ at }) => Date.parse(at))
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
    )
    assert.equal(meta.pagination.totalCount, data.length)
    const pages = [await list(admin, 'limit=2'), await list(admin, 'limit=2&offset=2')]
    assert.deepEqual(
      pages.flatMap((page) => page.data.map(({ id }) => id)),
      data.slice(0, 4).map(({ id }) => id),
    )
    const oldest = await list(admin, 'sort=at&limit=1')
    assert.equal(oldest.data[0]?.id, data.at(-1)?.id)
  })

  await t.test('API 2: it names the fields that it can be filtered by', async () => {
    const { meta } = await list(admin, 'limit=1')
    assert.deepEqual(meta.filterableFields, [
      'id',
      'at',
      'type',
      'identityId',
      'identityName',
      'sessionId',
      'actorId',
      'actorName',
      'address',
      'requestId',
      'userAgent',
      'reason',
    ])
  })

  await t.test('it can be filtered by each of them, and by several at once', async () => {
    const actor = decodeJwt(admin.token).sub
    for (const [filter, types] of [
      ['reason = "wrong-password"', ['login.failed']],
      [`actorId = "${actor}" and type = "identity.created"`, ['identity.created']],
      [`identityId = "${ada.id}" and type contains "login"`, ['login.failed']],
      ['identityName = "ada" and type contains "login"', ['login.failed']],
      [
        `actorName = "${ADMIN.username}" and identityName = "ada" and type = "identity.created"`,
        ['identity.created'],
      ],
      ['address = "192.0.2.99"', []],
      ['sessionId != null and type = "token.issued"', ['token.issued']],
      ['at > datetime("2999-01-01T00:00:00Z")', []],
    ] as const) {
      const { data } = await list(admin, filtered(filter))
      assert.deepEqual(
        data.map(({ type }) => type),
        types,
        filter,
      )
    }
  })

  await t.test('details and unknown fields cannot be filtered by', async () => {
    for (const filter of ['details = "x"', 'details.username = "ada"', 'nothing = "x"']) {
      assertRefused(
        await admin.call('GET', `/events?${filtered(filter)}`),
        400,
        'INVALID_FILTER',
        'filter',
      )
    }
    assertRefused(
      await admin.call('GET', '/events?sort=details'),
      400,
      'INVALID_SORT_IDENTIFIER',
      'sort',
    )
    assertRefused(await admin.call('GET', '/events?limit=0'), 400, 'INVALID_PAGINATION', 'limit')
  })

  await t.test('events cannot be written, changed or deleted over the API', async () => {
    const [event] = (await list(admin, 'limit=1')).data
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const path of ['/events', `/events/${event?.id}`]) {
        assertRefused(await admin.call(method, path), 405, 'METHOD_NOT_ALLOWED')
      }
    }
    assertRefused(await admin.call('GET', '/events/nothing'), 404, 'NOT_FOUND')
  })
})

test('D-133: every refusal of something genuine is found by its request id', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const reasonOf = async (reply: Reply) => {
    const events = await eventsOf(admin, reply)
    return events.map(({ type, reason }) => `${type}: ${reason}`).toSorted()
  }

  await t.test('a refresh, whatever was wrong', async () => {
    const first = await logInOffline(service)
    const second = await refreshed(service, first.refresh_token)
    const repeated = await refresh(service, first.refresh_token)
    assertRefreshRefused(repeated)
    assert.deepEqual(await reasonOf(repeated), ['token.refused: refresh-token-spent'])

    await sql(service, 'update refresh_tokens set expires_at = 1 where spent_at is null')
    const expired = await refresh(service, second.refresh_token)
    assertRefreshRefused(expired)
    assert.deepEqual(await reasonOf(expired), ['token.refused: refresh-token-expired'])
    const [event] = await eventsOf(admin, expired)
    assert.equal(event?.sessionId, decodeJwt(first.access_token)['z_asid'])
    assert.equal(event?.identityId, decodeJwt(first.access_token).sub)
  })

  await t.test('a refresh that is theft, by what it is', async () => {
    const first = await logInOffline(service)
    await refreshed(service, first.refresh_token)
    service.clock.advance(seconds(11))
    const stolen = await refresh(service, first.refresh_token)
    assertRefreshRefused(stolen)
    assert.deepEqual(await reasonOf(stolen), [
      'session.ended: refresh-token-reused',
      'token.reused: null',
    ])
  })

  await t.test('a code, whatever was wrong', async () => {
    const attempt = async (changes: Readonly<Record<string, string | undefined>>) => {
      const { code, verifier } = await obtainCode(service)
      const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI, ...changes }
      const reply = await exchange(service, form)
      assert.equal(reply.json().error, 'invalid_grant')
      return { reply, form }
    }
    const wrong = await attempt({ code_verifier: 'x'.repeat(43) })
    assert.deepEqual(await reasonOf(wrong.reply), ['token.refused: verifier-mismatch'])
    const missing = await attempt({ code_verifier: undefined })
    assert.deepEqual(await reasonOf(missing.reply), ['token.refused: verifier-mismatch'])
    const elsewhere = await attempt({ redirect_uri: 'http://127.0.0.1:1/callback' })
    assert.deepEqual(await reasonOf(elsewhere.reply), ['token.refused: redirect-uri-mismatch'])
    const again = await exchange(service, elsewhere.form)
    assert.equal(again.json().error, 'invalid_grant')
    assert.deepEqual(await reasonOf(again), ['token.refused: code-spent'])

    const { code, verifier } = await obtainCode(service)
    service.clock.advance(minutes(1))
    const late = await exchange(service, {
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
    })
    assert.deepEqual(await reasonOf(late), ['token.refused: code-expired'])
  })

  await t.test(
    'no event for tokens that were never issued: anonymous callers write nothing',
    async () => {
      // Attack: somebody fills the database with tokens, codes and calls of his own making.
      const count = async () => (await list(admin, 'limit=1')).meta.pagination.totalCount
      const before = await count()
      assertRefreshRefused(await refresh(service, 'lkr_made_up'))
      const form = { code: 'made-up', code_verifier: 'x'.repeat(43), redirect_uri: REDIRECT_URI }
      assert.equal((await exchange(service, form)).json().error, 'invalid_grant')
      const authorization = 'Bearer eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.AAAA'
      for (const headers of [{ authorization }, { 'zt-session': 'made-up' }]) {
        const reply = await service.call('/edge/client/v1/current-identity', { headers })
        assert.equal(reply.status, 401)
      }
      assert.equal(await count(), before)
    },
  )
})

test('D-22, D-133: what anonymous callers can write is limited for each address', async (t) => {
  // Attack: failed logins without end, each of which is an event. 60 a minute is the default.
  const service = await startService(t)
  const admin = await administrate(service)
  const statuses: number[] = []
  for (let i = 0; i < 70; i++) {
    const json = { username: `nobody-${i}`, password: 'a guess' }
    const reply = await service.call('/edge/client/v1/authenticate?method=password', { json })
    statuses.push(reply.status)
  }
  assert.deepEqual(
    [statuses.filter((one) => one === 401).length, statuses.filter((one) => one === 429).length],
    [60, 10],
  )
  // D-207: ten individual rows, and one that counts the others; twice if a minute ends in between.
  const { data } = await list(admin, `limit=100&${filtered('type = "login.failed"')}`)
  assert.ok(data.length <= 22, String(data.length))
  const counts = data.map(({ count }: { count: number }) => count)
  assert.equal(
    counts.reduce((sum: number, one: number) => sum + one, 0),
    60,
  )
})

test('D-134: events older than the retention disappear', async (t) => {
  const service = await startService(t, { config: { edge: { audit: { retention: '1d' } } } })
  await sql(service, 'update events set at = at - 86400000 - 1000')
  const old = (await sql(service, 'select id from events')).map(({ id }) => id)
  assert.ok(old.length > 0)
  const { sweep } = await import('../../../src/app/janitor.ts')
  await sweep(await service.openStore(), service.clock.now(), service.config.audit.retention)
  assert.deepEqual(await sql(service, 'select id from events'), [])
  service.clock.advance(hours(1))
  assert.equal(
    (await submitPassword(service, (await beginLogin(service)).authRequestId, ADMIN)).status,
    302,
  )
})
