/**
 * The end of a session, with proof: routers and instances confirm what they have applied, a router that is cut off is
 * shown with the time at which it refuses by itself, and one that lies cannot speak for anyone else. D-381 to D-384.
 */
import assert from 'node:assert/strict'
import https from 'node:https'
import { suite, test } from 'node:test'
import { seconds } from '../../../src/base/time/duration.ts'
import { shows } from '../../support/certificates/certificate-login.ts'
import { TestClock } from '../../support/clocks/clock.ts'
import { enrollRouter, readyFeed } from '../../support/edge/feed-client.ts'
import { oidcSession } from '../../support/edge/live-session.ts'
import { pass, startRealEdge, travellerOf } from '../../support/edge/real-edge.ts'
import { eventually } from '../../support/eventually.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import {
  CONFIRM,
  type Confirmations,
  confirmationsOf,
  end,
  feedOf,
  markAfter,
  RUN,
} from '../../support/monitoring/endings.ts'
import { webAt } from '../../support/ports.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

suite('one instance', () => {
  test('D-381: a gateway confirms an end when it has applied it, and the ledger has all of it', async (t) => {
    const service = await startService(t)
    const edge = await startRealEdge(t, service)
    const { admin } = edge
    const person = await admin.createIdentity({ name: 'Ada', password: 'a password of Ada' })
    const session = await oidcSession(service, person)
    const traveller = await travellerOf(session)
    assert.equal((await pass(t, edge, traveller))?.status, 200)
    await eventually(async () => {
      const { entries } = await admin.get(`/api-sessions/${session.id}/ledger`)
      return entries.find(({ kind }: Confirmations) => kind === 'router-contact')
    }, 'the contact of the router')

    const ending = await end(admin, session.id)
    const state = await confirmationsOf(admin, ending, 10)
    assert.equal(state.outcome, 'confirmed')
    const [router, ...others] = state.routers
    assert.deepEqual(others, [])
    assert.deepEqual(
      [router.id, router.name, router.state],
      [edge.identity.id, 'router-1', 'confirmed'],
    )
    assert.ok(router.confirmedAt >= state.endedAt)
    assert.equal(router.refusesAt, null)
    assert.deepEqual(
      state.instances.map((one: Confirmations) => one.state),
      ['confirmed'],
    )
    assert.equal((await pass(t, edge, traveller))?.status, 401)

    await t.test('the router is listed with its last contact', async () => {
      const [listed] = await admin.get('/routers')
      assert.deepEqual(
        [listed.name, listed.isConnected, listed.confirms, listed.programs],
        ['router-1', true, true, 1],
      )
      assert.ok(listed.lastContactAt >= state.endedAt)
    })

    await t.test('a user can ask about a logout of their own, and sees no names', async () => {
      const own = await oidcSession(service, person)
      const reply = await own.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
      const id = reply.headers['latchkey-ending']
      const counts = await service.call(`${CLIENT_API}/endings/${id}?wait=10`)
      const { endedAt, certainAt, ...rest } = counts.json().data
      assert.deepEqual(rest, { outcome: 'confirmed', confirmed: 2, unconfirmed: 0 })
      assert.equal(Date.parse(certainAt) - Date.parse(endedAt), 35_000)
      assertRefused(
        await service.call(`${CLIENT_API}/endings/1.x.${'a'.repeat(22)}`),
        404,
        'NOT_FOUND',
      )
      assertRefused(
        await service.call(`${CLIENT_API}/endings/${id}?wait=61`),
        400,
        'COULD_NOT_VALIDATE',
        'wait',
      )
    })

    await t.test('D-384: the ledger has login, certificate, router and end', async () => {
      const ledger = await admin.get(`/api-sessions/${session.id}/ledger`)
      assert.deepEqual(
        ledger.entries.map((one: Confirmations) => one.event?.type ?? one.kind).sort(),
        [
          'certificate.issued',
          'login.succeeded',
          'router-contact',
          'session.ended',
          'token.issued',
        ],
      )
      assert.equal(ledger.entries[0].event.type, 'login.succeeded', 'it begins with the login')
      assert.deepEqual([ledger.identityName, ledger.isActive, ledger.omitted], ['Ada', false, 0])
      assert.equal(ledger.end.confirmations.outcome, 'confirmed')
      assertRefused(await admin.call('GET', '/api-sessions/unknown/ledger'), 404, 'NOT_FOUND')
    })
  })

  test('D-381: what cannot be confirmed', async (t) => {
    const service = await startService(t)
    const admin = await administrate(service)
    const router = await enrollRouter(t, admin)
    const other = await enrollRouter(t, admin)
    const feed = await feedOf(t, service, router)
    const theirs = await feedOf(t, service, other)
    const person = await admin.createIdentity({ password: 'a password of somebody' })
    const session = await oidcSession(service, person)
    const first = feed.mark()
    const ending = await end(admin, session.id)
    const mark = await markAfter(feed, session.id)
    const refused = async (json: unknown, field = 'mark') =>
      assertRefused(await feed.confirm(json), 400, 'COULD_NOT_VALIDATE', field)

    await t.test('the future, the mark of another router or program, and garbage', async () => {
      const [position = '', proof = ''] = mark.split('.')
      for (const wrong of [
        `${Number(position) + 1}.${proof}`,
        `${position}.${'A'.repeat(22)}`,
        `${position}.`,
        await markAfter(theirs, session.id),
        '.',
        'x',
        '9'.repeat(1_000),
      ]) {
        await refused({ run: RUN, mark: wrong })
      }
      await refused({ run: 'another-program', mark })
      await refused({ run: '../../etc', mark }, 'run')
      await refused({ run: RUN, mark: 7 })
      await refused({ run: RUN, mark, routerId: other.identityId }, 'routerId')
      const many = Array.from({ length: 257 }, (_, i) => `s${i}`)
      await refused({ run: RUN, mark, sessionIds: many }, 'sessionIds')
      await refused({ run: RUN, mark, sessionIds: ["'; drop table"] }, 'sessionIds.0')
      const huge = { run: RUN, mark: 'x'.repeat(2_000_000) }
      assertRefused(await feed.confirm(huge), 413, 'REQUEST_ENTITY_TOO_LARGE')
    })

    await t.test('an old mark says nothing about what came after it', async () => {
      assert.equal((await feed.confirm({ run: RUN, mark: first })).status, 200)
      const state = await confirmationsOf(admin, ending, 2)
      assert.equal(state.outcome, 'pending')
      assert.deepEqual(
        state.routers.map((one: Confirmations) => one.state),
        ['waiting', 'waiting'],
      )
    })

    await t.test('someone who is not a router confirms nothing', async () => {
      const user = await oidcSession(
        service,
        await admin.createIdentity({ password: 'a password of another' }),
      )
      assertRefused(await user.call(CONFIRM, { json: { run: RUN, mark } }), 401, 'INVALID_AUTH')
    })

    await t.test('one router does not confirm for the other', async () => {
      assert.equal((await feed.confirm({ run: RUN, mark })).status, 200)
      const state = await eventually(async () => {
        const now = await confirmationsOf(admin, ending)
        return now.routers.some((one: Confirmations) => one.state === 'confirmed') ? now : undefined
      }, 'a confirmation')
      assert.deepEqual(
        state.routers.map((one: Confirmations) => [one.id, one.state]).sort(),
        [
          [router.identityId, 'confirmed'],
          [other.identityId, 'waiting'],
        ].sort(),
      )
    })

    await t.test('D-383: sessions that do not exist leave no rows', async () => {
      const sessionIds = [
        'made-up',
        session.id,
        ...Array.from({ length: 200 }, (_, i) => `id-${i}`),
      ]
      assert.equal((await feed.confirm({ run: RUN, mark, sessionIds })).status, 200)
      const live = await oidcSession(service, person)
      assert.equal((await feed.confirm({ run: RUN, mark, sessionIds: [live.id] })).status, 200)
      await eventually(async () => {
        const rows = await sql(service, 'select session_id from session_contacts')
        if (rows.length === 0) return undefined
        assert.deepEqual(
          rows.map((row) => row['session_id']),
          [live.id],
        )
        return true
      }, 'the contact')
    })

    await t.test('a flood is refused, and costs few writes', async () => {
      // Over a few connections, so that a slow machine is still fast enough; and more than twice what is allowed, because
      // the ten seconds that are counted may end in between.
      const agent = new https.Agent({
        ...shows(router.certificate),
        keepAlive: true,
        maxSockets: 4,
      })
      t.after(() => agent.destroy())
      const replies = await Promise.all(
        Array.from({ length: 250 }, () =>
          service.call(CONFIRM, { agent, json: { run: RUN, mark } }),
        ),
      )
      const late = replies.filter(({ status }) => status === 429)
      assert.ok(late.length > 0)
      for (const reply of late) assertRefused(reply, 429, 'RATE_LIMITED')
      // The other router is not affected.
      assert.equal((await theirs.confirm({ run: RUN, mark: theirs.mark() })).status, 200)
      const state = await confirmationsOf(admin, ending, 10)
      assert.equal(state.outcome, 'confirmed')
      const [row] = await sql(
        service,
        `select steps from router_runs where router_id = '${router.identityId}'`,
      )
      assert.ok(JSON.parse(String(row?.['steps'])).length <= 3)
    })
  })

  test('D-381: an older router is shown as one that does not confirm', async (t) => {
    const service = await startService(t)
    const admin = await administrate(service)
    const router = await enrollRouter(t, admin)
    const feed = await readyFeed(t, service, router)
    await feed.line(({ type }) => type === 'heartbeat', 'a heartbeat')
    const session = await oidcSession(
      service,
      await admin.createIdentity({ password: 'a password of somebody' }),
    )
    const ending = await end(admin, session.id)
    await feed.ended(session.id)
    assert.ok(!feed.lines.some(({ type }) => type === 'mark'))
    const before = await eventually(async () => {
      const state = await confirmationsOf(admin, ending)
      const isShown = state.routers.length > 0 && state.instances[0].state === 'confirmed'
      return isShown ? state : undefined
    }, 'the router')
    assert.deepEqual([before.outcome, before.routers[0].state], ['pending', 'does-not-confirm'])
    assert.equal(Date.parse(before.routers[0].refusesAt) - Date.parse(before.endedAt), 35_000)
    service.clock.advance(seconds(36))
    assert.equal((await confirmationsOf(admin, ending)).outcome, 'elapsed')
    const [listed] = await admin.get('/routers')
    assert.deepEqual([listed.isConnected, listed.confirms], [true, false])
  })

  test('D-382: every call that ends something names it, and no other call does', async (t) => {
    const service = await startService(t)
    const admin = await administrate(service)
    const person = await admin.createIdentity({ password: 'a password of somebody' })
    const ids: string[] = []
    for (const [method, path, json] of [
      ['DELETE', `/identities/${person.id}/api-sessions`],
      ['POST', `/identities/${person.id}/disable`, { durationMinutes: 0 }],
      ['DELETE', `/identities/${person.id}`],
      ['POST', '/signing-keys', { revokeNow: true }],
    ] as const) {
      if (path !== '/signing-keys') {
        await admin.act('POST', `/identities/${person.id}/enable`, {})
        for (const _ of [1, 2]) await oidcSession(service, person)
      }
      const reply = await admin.call(method, path, json)
      assert.ok(reply.status < 300, reply.text)
      const id = reply.headers['latchkey-ending']
      assert.ok(typeof id === 'string', path)
      ids.push(id)
    }
    const again = await administrate(service)
    for (const id of ids) {
      assert.equal((await confirmationsOf(again, id, 10)).outcome, 'confirmed', id)
    }
    const listed = await again.call('GET', '/api-sessions')
    assert.equal(listed.headers['latchkey-ending'], undefined)
    const other = await again.call('POST', '/identities', {
      name: 'x',
      type: 'User',
      isAdmin: false,
    })
    assert.equal(other.headers['latchkey-ending'], undefined)
  })

  test('D-381: a confirmation survives a restart of the controller, and a router that was cut off meanwhile comes back', async (t) => {
    const clock = new TestClock()
    const service = await startService(t, { clock })
    const edge = await startRealEdge(t, service)
    const person = await edge.admin.createIdentity({ password: 'a password of somebody' })
    const [one, two] = [await oidcSession(service, person), await oidcSession(service, person)]
    const first = await end(edge.admin, one.id)
    assert.equal((await confirmationsOf(edge.admin, first, 10)).outcome, 'confirmed')
    const port = Number(new URL(service.baseUrl).port)
    await service.stop()

    const again = await startService(t, {
      clock,
      home: service.home,
      config: { web: webAt(port, port) },
    })
    const admin = await administrate(again)
    const second = await end(admin, two.id)
    assert.equal((await confirmationsOf(admin, first, 10)).outcome, 'confirmed')
    const state = await eventually(async () => {
      const now = await confirmationsOf(admin, second, 5)
      return now.outcome === 'confirmed' ? now : undefined
    }, 'the confirmation of the router that came back')
    assert.equal(state.routers.length, 1)
    assert.equal((await confirmationsOf(admin, first)).routers[0].state, 'confirmed')
  })
})
