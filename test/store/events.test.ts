/**
 * Audit events in the database: how they lie there, how they are found again, and who is told of them. API 4.8, D-134.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after as afterAll, suite, test } from 'node:test'
import type { ApiSessionId, EventId, IdentityId, RequestId } from '../../src/base/ids.ts'
import { minutes } from '../../src/base/time/duration.ts'
import { plus } from '../../src/base/time/instant.ts'
import type { AuditEvent, Caller } from '../../src/domain/audit/events.ts'
import { EVENT_FIELDS } from '../../src/domain/lists/fields.ts'
import { readFilter } from '../../src/domain/lists/read-filter.ts'
import type { KeptEvent } from '../../src/store/events.ts'
import { openStore } from '../../src/store/open.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { SHARED, type SharedDatabase } from './databases.ts'
import { anEvent, anIdentity, aPolicy, NOON, sessionId } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

/** Another value after each commit that changed something: the write-ahead log, or how far it goes. */
async function written(database: SharedDatabase): Promise<unknown> {
  const { address } = database
  return address.kind === 'sqlite'
    ? readFile(`${address.path}-wal`)
    : database.query('select pg_current_wal_lsn()::text as position')
}

for (const kind of SHARED) {
  suite(kind.name, () => {
    test('an event is stored with who, where from and why', async (t) => {
      const database = await kind.create(t)
      const { events } = await database.open()
      await events.insert(anEvent('event-1'))
      assert.deepEqual(await rows(database), [
        {
          id: 'event-1',
          at: NOON,
          type: 'login.failed',
          actor_id: 'administrator-1',
          identity_id: anIdentity().id,
          session_id: null,
          address: '192.0.2.1',
          request_id: 'req-1',
          user_agent: 'curl/8',
          reason: 'wrong-password',
          details: '{"method":"password","username":"Zoë \\u0000"}',
          identity_name: null,
          actor_name: null,
          count: 1,
          fold_key: null,
        },
      ])
    })

    test('an event of the service itself is stored without a caller', async (t) => {
      const database = await kind.create(t)
      const { events } = await database.open()
      await events.insert({
        id: 'event-1' as EventId,
        at: NOON,
        caller: undefined,
        type: 'session.ended',
        identityId: anIdentity().id,
        sessionId: sessionId('session-1'),
        reason: 'code-reused',
      })
      assert.deepEqual(await rows(database), [
        {
          id: 'event-1',
          at: NOON,
          type: 'session.ended',
          actor_id: null,
          identity_id: anIdentity().id,
          session_id: 'session-1',
          address: null,
          request_id: null,
          user_agent: null,
          reason: 'code-reused',
          details: null,
          identity_name: null,
          actor_name: null,
          count: 1,
          fold_key: null,
        },
      ])
    })

    test('an event that may name an identity or a session is stored without', async (t) => {
      const database = await kind.create(t)
      const { events } = await database.open()
      const at = { at: NOON, caller: undefined }
      const details = { id: 'ca-1', name: 'partner' }
      await events.insert({ id: 'event-1' as EventId, ...at, type: 'ca.created', details })
      await events.insert({
        id: 'event-2' as EventId,
        ...at,
        type: 'mfa.recovery-code-used',
        identityId: anIdentity().id,
      })
      const found = await database.query('select * from events order by id')
      assert.deepEqual(
        found.map((row) => [row['identity_id'], row['session_id'], row['details']]),
        [
          [null, null, JSON.stringify(details)],
          [anIdentity().id, null, null],
        ],
      )
    })

    test('an event is read as it was written', async (t) => {
      const { events } = await (await kind.create(t)).open()
      const event = anEvent('event-1')
      await events.insert(event)
      const found = await events.find(event.id)
      assert.deepEqual(found, {
        id: 'event-1',
        at: NOON,
        type: 'login.failed',
        identityId: anIdentity().id,
        identityName: undefined,
        sessionId: undefined,
        actorId: 'administrator-1',
        actorName: undefined,
        address: '192.0.2.1',
        requestId: 'req-1',
        userAgent: 'curl/8',
        reason: 'wrong-password',
        details: { method: 'password', username: 'Zoë \0' },
        count: 1,
      })
      assert.deepEqual((await events.list({ limit: 10, offset: 0 })).rows, [found])
      for (const id of ['event-2', 'a\0b', '\ud800']) {
        assert.equal(await events.find(id as EventId), undefined)
      }
    })

    test('D-350: an event has the names at the time, also after a rename and a removal', async (t) => {
      const database = await kind.create(t)
      const told: unknown[] = []
      const store = await openStore(database.address, (events) => {
        told.push(...events.map(({ names }) => names))
      })
      t.after(() => store.close())
      const { events, identities } = store
      const identity = anIdentity()
      const caller = { ...anEvent('x').caller, actorId: identity.id } as Caller
      await store.authPolicies.insert(aPolicy())
      await identities.insert(identity)
      await events.insert(ended('before', { caller }))
      const renamed = { ...identity, name: 'another name' }
      assert.equal(await identities.replace(renamed), 'replaced')
      await store.transaction((tx) => tx.events.insert(ended('renamed')))
      await events.insert({ ...anEvent('counted'), fold: { key: 'x' } })
      await identities.remove(identity.id)
      await events.insert(ended('after', { caller }))
      const names = [
        { identityName: identity.name, actorName: identity.name },
        { identityName: 'another name', actorName: undefined },
        { identityName: 'another name', actorName: undefined },
        { identityName: undefined, actorName: undefined },
      ]
      assert.deepEqual(told, names)
      const ids = ['before', 'renamed', 'counted', 'after']
      for (const [at, id] of ids.entries()) {
        const { identityName, actorName } = (await events.find(id as EventId)) ?? assert.fail(id)
        assert.deepEqual({ identityName, actorName }, names[at], id)
      }
      for (const [filter, wanted] of [
        [`identityName = "${identity.name}"`, ['before']],
        [`actorName = "${identity.name}"`, ['before']],
        ['identityName icontains "ANOTHER"', ['renamed', 'counted']],
        ['identityName = null', ['after']],
      ] as const) {
        const query = { ...readFilter(filter, EVENT_FIELDS), limit: 10, offset: 0 }
        const { rows: found } = await events.list(query)
        assert.deepEqual(new Set(found.map(({ id }) => id)), new Set(wanted), filter)
      }
    })

    test('events come newest first, and those of one moment always in the same order', async (t) => {
      const { events } = await (await kind.create(t)).open()
      for (const [id, minute] of [
        ['b', 1],
        ['a', 1],
        ['c', 0],
        ['d', 2],
      ] as const) {
        await events.insert(ended(id, { at: plus(NOON, minutes(minute)) }))
      }
      const idsOf = async (offset: number) =>
        (await events.list({ limit: 2, offset })).rows.map(({ id }) => id)
      assert.deepEqual([...(await idsOf(0)), ...(await idsOf(2))], ['d', 'b', 'a', 'c'])
    })

    test('events are found by everything that they can be asked for by', async (t) => {
      const { events } = await (await kind.create(t)).open()
      const wanted = anEvent('wanted')
      await events.insert(wanted)
      await events.insert(
        ended('other', {
          at: plus(NOON, minutes(1)),
          identityId: 'other' as IdentityId,
          sessionId: 'other' as ApiSessionId,
          caller: {
            address: '192.0.2.2',
            requestId: 'req-2' as RequestId,
            userAgent: 'other',
            actorId: 'other' as IdentityId,
          },
        }),
      )
      for (const filter of [
        'id = "wanted"',
        `at <= datetime("${new Date(NOON).toISOString()}")`,
        'type = "login.failed"',
        'type >= "login." and type < "login/"',
        `identityId = "${anIdentity().id}"`,
        'sessionId = null',
        'actorId = "administrator-1"',
        'address = "192.0.2.1"',
        'requestId = "req-1"',
        'userAgent contains "curl"',
        'reason = "wrong-password"',
      ]) {
        const query = { ...readFilter(filter, EVENT_FIELDS), limit: 10, offset: 0 }
        const { rows: found, totalCount } = await events.list(query)
        assert.deepEqual([totalCount, found.map(({ id }) => id)], [1, ['wanted']], filter)
      }
    })

    test('D-134: followers of the events are notified after the commit, in the order of the commits', async (t) => {
      const { address } = await kind.create(t)
      const told: string[][] = []
      const store = await openStore(address, (events) =>
        told.push(events.map(({ event }) => event.id)),
      )
      t.after(() => store.close())
      await store.events.insert(ended('alone'))
      await store.transaction(async (tx) => {
        await tx.events.insert(ended('first'))
        await tx.events.insert(ended('second'))
        assert.deepEqual(told, [['alone']], 'not before the commit')
      })
      assert.deepEqual(told, [['alone'], ['first', 'second']])
      await store.transaction(async () => {})
      assert.equal(told.length, 2, 'a commit without events is none of theirs')
    })

    test('D-207: any number of instances count repeats in one row in parallel', async (t) => {
      const database = await kind.create(t)
      const told: KeptEvent['kept'][] = []
      const stores = [
        await openStore(database.address, (events) => told.push(...events.map((one) => one.kept))),
        await openStore(database.address, (events) => told.push(...events.map((one) => one.kept))),
      ]
      for (const store of stores) t.after(() => store.close())
      const fold = { key: 'minute reason network' }
      await Promise.all(
        stores.flatMap((store, i) =>
          Array.from({ length: 25 }, (_, n) => {
            const event = { ...anEvent(`event-${i}-${n}`), fold }
            return n % 2 === 0
              ? store.events.insert(event)
              : store.transaction((tx) => tx.events.insert(event))
          }),
        ),
      )
      const [row, ...others] = await rows(database)
      assert.deepEqual(others, [])
      assert.equal(row?.['count'], 50)
      assert.equal(told.filter((kept) => kept === 'row').length, 1)
      assert.equal(told.filter((kept) => kept === 'counted').length, 49)

      // Found by the request id of the first one, with the count.
      const [store] = stores
      assert.ok(store !== undefined)
      assert.equal((await store.events.find(row['id'] as EventId))?.count, 50)
      await store.events.insert({ ...anEvent('other'), fold: { key: 'another' } })
      await store.events.insert({ ...anEvent('none'), fold: 'dropped' })
      assert.deepEqual(told.slice(-2), ['row', 'dropped'])
      assert.equal((await rows(database)).length, 2)
    })

    test('R077: the refusal of a login is written to disk, whether its event is kept or dropped', async (t) => {
      // Attack: with the rate for anonymous events used up, only the failures of known names would wait for the disk.
      const database = await kind.create(t)
      const store = await database.open()
      const { length } = await rows(database)
      const before = await written(database)
      await store.transaction((tx) => tx.events.insert({ ...anEvent('none'), fold: 'dropped' }))
      assert.notDeepEqual(await written(database), before)
      assert.equal((await rows(database)).length, length)
    })

    test('D-134: nothing is reported of what is rolled back', async (t) => {
      const { address } = await kind.create(t)
      const told: string[][] = []
      const store = await openStore(address, (events) =>
        told.push(events.map(({ event }) => event.id)),
      )
      t.after(() => store.close())
      const fault = new Error('as if the rest had failed')
      const failing = store.transaction(async (tx) => {
        await tx.events.insert(ended('undone'))
        throw fault
      })
      await assert.rejects(failing, fault)
      // The same id twice: the database refuses the second one.
      await store.events.insert(ended('kept'))
      await assert.rejects(store.events.insert(ended('kept')))
      assert.deepEqual(told, [['kept']])
    })

    test('old events are removed a few at a time, oldest first', async (t) => {
      const { events } = await (await kind.create(t)).open()
      for (let i = 0; i < 5; i++) {
        await events.insert(ended(`e${i}`, { at: plus(NOON, minutes(i)) }))
      }
      const before = plus(NOON, minutes(3))
      assert.equal(await events.removeOlderThan(before, 2), 2)
      assert.equal(await events.removeOlderThan(before, 2), 1)
      assert.equal(await events.removeOlderThan(before, 2), 0)
      const { rows: left } = await events.list({ limit: 10, offset: 0 })
      assert.deepEqual(
        left.map(({ id }) => id),
        ['e4', 'e3'],
      )
    })
  })
}

function ended(
  id: string,
  changes: Partial<Pick<AuditEvent, 'at' | 'caller'>> & {
    readonly identityId?: IdentityId
    readonly sessionId?: ApiSessionId
  } = {},
): AuditEvent {
  return {
    id: id as EventId,
    at: NOON,
    caller: undefined,
    type: 'session.ended',
    identityId: anIdentity().id,
    sessionId: sessionId('session-1'),
    reason: 'logout',
    ...changes,
  }
}

async function rows(database: { query(statement: string): Promise<Record<string, unknown>[]> }) {
  const found = await database.query('select * from events')
  return found.map((row): Record<string, unknown> => ({ ...row, at: Number(row['at']) }))
}
