import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instant } from '../../../base/time/instant.ts'
import type { NewEnding } from '../ending/tell-copies.ts'
import { thingOf } from './ending-id.ts'

const ended = (sequence: number, at: number) => ({ sequence, at: instant(at) }) as NewEnding

test('what a call ended has the time of its last ending', () => {
  assert.deepEqual(thingOf([ended(7, 30), ended(8, 50), ended(9, 40)])?.at, 50)
})

// A request can end all sessions, and there can be more of them than one call accepts as arguments.
test('a call may end hundreds of thousands of sessions', () => {
  const thing = thingOf(Array.from({ length: 300_000 }, (_, i) => ended(i + 1, i)))
  assert.deepEqual(thing, { ranges: [[1, 300_000]], at: 299_999 })
})
