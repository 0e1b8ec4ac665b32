import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_TYPES } from '../../../domain/audit/event-types.ts'
import { meaningOf, REASONS, TYPES } from './reasons.ts'

test('every type of event has its sentence, and no sentence is for a type that does not exist', () => {
  assert.deepEqual(Object.keys(TYPES).sort(), Object.keys(EVENT_TYPES).sort())
})

test('every reason has its sentence, and no sentence is for a reason that does not exist', () => {
  for (const [type, { reasons }] of Object.entries(EVENT_TYPES)) {
    assert.deepEqual(Object.keys(REASONS[type] ?? {}).sort(), Object.keys(reasons).sort(), type)
  }
})

test('an unknown reason is explained by the type of its event', () => {
  assert.deepEqual(meaningOf('login.failed', 'from-the-future'), TYPES['login.failed'])
  assert.equal(meaningOf('from.the-future', null), undefined)
})
