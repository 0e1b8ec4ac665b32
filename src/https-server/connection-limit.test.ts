import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConnectionLimit, mostConnections } from './connection-limit.ts'

const silent = () => undefined

for (const [descriptors, perConnection, most] of [
  [400, 1, 272],
  [1_024, 1, 896],
  [1_024, 2, 448],
  // Half of a small limit stays available.
  [100, 1, 50],
  [1, 2, 1],
  [Number.POSITIVE_INFINITY, 1, Number.POSITIVE_INFINITY],
] as const) {
  test(`${descriptors} descriptors allow ${most} connections that take ${perConnection} each`, () => {
    assert.equal(mostConnections(perConnection, descriptors), most)
  })
}

test('reads the limit of the process', () => {
  assert.ok(mostConnections(1) >= 1)
})

test('releases places, counts refused connections, and logs them once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const said: object[] = []
  const warn = (fields: object) => void said.push(fields)
  const limit = createConnectionLimit(2, { debug: silent, info: silent, error: silent, warn })
  const [first] = [limit.take(), limit.take()]
  for (let i = 0; i < 100; i++) assert.equal(limit.take(), undefined)
  assert.deepEqual(limit.load(), { open: 2, refused: 100, most: 2 })
  const why = 'the limit of open connections is reached'
  assert.deepEqual(said, [{ why, refused: 1, open: 2, most: 2 }])
  first?.()
  assert.notEqual(limit.take(), undefined)
  t.mock.timers.tick(10_000)
  assert.deepEqual(said.slice(1), [{ why, refused: 99, open: 2, most: 2 }])
  t.mock.timers.tick(10_000)
  limit.noteRefused(Object.assign(new Error('accept'), { code: 'ENFILE' }))
  assert.deepEqual(said.slice(2), [{ why: 'ENFILE', refused: 1, open: 2, most: 2 }])
})
