import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConnectionLimit, mostConnections } from './connection-limit.ts'

const silent = () => undefined

for (const [descriptors, perConnection, most] of [
  [400, 1, 272],
  [1_024, 1, 896],
  [1_024, 2, 448],
  // Of a small limit half is left.
  [100, 1, 50],
  [1, 2, 1],
  [Number.POSITIVE_INFINITY, 1, Number.POSITIVE_INFINITY],
] as const) {
  test(`${descriptors} descriptors allow ${most} connections that take ${perConnection} each`, () => {
    assert.equal(mostConnections(perConnection, descriptors), most)
  })
}

test('the process has a limit that can be read', () => {
  assert.ok(mostConnections(1) >= 1)
})

function createLimit() {
  const said: object[] = []
  const warn = (fields: object, message?: string) => void said.push({ ...fields, message })
  return {
    said,
    limit: createConnectionLimit(2, { debug: silent, info: silent, error: silent, warn }),
  }
}

const neverClosed = () => assert.fail('it makes way for no other')

test('places are given back, and what is refused is counted and said once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { said, limit } = createLimit()
  const takeForGood = () => {
    const place = limit.take(neverClosed)
    place?.keep()
    return place
  }
  const [first] = [takeForGood(), takeForGood()]
  for (let i = 0; i < 100; i++) assert.equal(takeForGood(), undefined)
  assert.deepEqual(limit.load(), { open: 2, refused: 100, displaced: 0, most: 2 })
  const message = 'connections are refused'
  const why = 'the limit of open connections is reached'
  assert.deepEqual(said, [{ why, refused: 1, open: 2, most: 2, message }])
  first?.giveBack()
  first?.giveBack()
  assert.notEqual(takeForGood(), undefined)
  assert.equal(takeForGood(), undefined, 'one place was given back, not two')
  t.mock.timers.tick(10_000)
  assert.deepEqual(said.slice(1), [{ why, refused: 100, open: 2, most: 2, message }])
  t.mock.timers.tick(10_000)
  limit.noteRefused(Object.assign(new Error('accept'), { code: 'ENFILE' }))
  assert.deepEqual(said.slice(2), [{ why: 'ENFILE', refused: 1, open: 2, most: 2, message }])
})

test('D-201: at the limit the longest silent makes way, and one that has asked for something never does', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { said, limit } = createLimit()
  const closed: string[] = []
  const take = (name: string) => limit.take(() => closed.push(name))
  const [a, b] = [take('a'), take('b')]
  assert.notEqual(take('c'), undefined)
  assert.deepEqual(closed, ['a'])
  a?.giveBack()
  assert.equal(limit.load().open, 2, 'its place is not given back twice')
  b?.keep()
  const d = take('d')
  assert.deepEqual(closed, ['a', 'c'])
  d?.keep()
  assert.equal(take('e'), undefined)
  assert.deepEqual(limit.load(), { open: 2, refused: 1, displaced: 2, most: 2 })
  t.mock.timers.tick(10_000)
  const message = 'idle connections are closed to make room for new ones'
  assert.deepEqual(
    said.filter((line) => 'displaced' in line),
    [1, 1].map((displaced) => ({ displaced, open: 2, most: 2, message })),
  )
})
