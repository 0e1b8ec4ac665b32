/**
 * How audit events lie in the database: columns to search by, and the rest as JSON. The store has no method
 * that reads them yet.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import type { EventId } from '../../src/base/ids.ts'
import { startPostgres } from '../support/postgres.ts'
import { SHARED } from './databases.ts'
import { anEvent, anIdentity, NOON, sessionId } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

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
        type: 'mfa.enrolled',
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
  })
}

async function rows(database: { query(statement: string): Promise<Record<string, unknown>[]> }) {
  const found = await database.query('select * from events')
  return found.map((row) => ({ ...row, at: Number(row['at']) }))
}
