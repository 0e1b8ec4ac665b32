/** The fair queue: D-215, R081. The test decides when work ends; it asserts the order, and which work is rejected. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../../errors/catalogue.ts'
import { createTurns, MOST_WAITING_EACH } from './turns.ts'

function world(deps: { readonly concurrency: number; readonly queue: number }) {
  const turns = createTurns({ purpose: 'the work of the test', ...deps })
  const started: string[] = []
  const refused: string[] = []
  const ends = new Map<string, () => void>()
  const work: Promise<void>[] = []
  /** Requests a turn; the name begins with the network, or with `own`. */
  const ask = (name: string) => {
    const network = name.split(' ', 1)[0]
    const from = network === 'own' ? undefined : network
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(name, resolve)
    const turn = turns.run(from, () => {
      started.push(name)
      return promise
    })
    work.push(
      turn.catch((error: unknown) => {
        assert.ok(error instanceof Failure, String(error))
        assert.deepEqual([error.code, error.retryAfterSeconds], ['SERVER_TOO_BUSY', 1])
        refused.push(name)
      }),
    )
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  /** Ends the running work, one piece after the other, until nothing waits. */
  const drain = async () => {
    for (let i = 0; i < started.length; i++) await end(started[i] ?? '')
    await Promise.all(work)
  }
  return { turns, ask, end, drain, started, refused }
}

const times = (count: number) => Array.from({ length: count }, (_, i) => i)

test('the lines of the networks are served in turn, each in its own order', async () => {
  // Attack: one network fills the queue first.
  const { ask, drain, started } = world({ concurrency: 1, queue: 100 })
  ask('a 0')
  for (const name of ['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'c 1']) ask(name)
  await drain()
  assert.deepEqual(started, ['a 0', 'a 1', 'b 1', 'c 1', 'a 2', 'b 2', 'a 3'])
})

test('serves a new network next, however long the line of another network is', async () => {
  const { ask, end, started, drain } = world({ concurrency: 1, queue: 100 })
  for (const i of times(60)) ask(`a ${i}`)
  ask('b 0')
  await end('a 0')
  await end('a 1')
  assert.deepEqual(started, ['a 0', 'a 1', 'b 0'])
  await drain()
})

test('a network that is alone may use the whole queue, and the next request is refused', async () => {
  const { ask, drain, refused } = world({ concurrency: 2, queue: 20 })
  for (const i of times(23)) ask(`a ${i}`)
  await drain()
  assert.deepEqual(refused, ['a 22'])
})

test('limits a network to its share while others wait', async () => {
  const { ask, drain, refused } = world({ concurrency: 1, queue: 100 })
  ask('b 0')
  ask('b 1')
  for (const i of times(MOST_WAITING_EACH + 2)) ask(`a ${i}`)
  await drain()
  assert.deepEqual(refused, [`a ${MOST_WAITING_EACH}`, `a ${MOST_WAITING_EACH + 1}`])
})

test('a full queue drops the last request of the longest line for a network with a shorter one', async () => {
  const { ask, drain, started, refused } = world({ concurrency: 1, queue: 6 })
  for (const i of times(7)) ask(`a ${i}`)
  ask('b 0')
  ask('b 1')
  ask('c 0')
  await drain()
  assert.deepEqual(refused, ['a 6', 'a 5', 'a 4'])
  assert.deepEqual(started, ['a 0', 'a 1', 'b 0', 'c 0', 'a 2', 'b 1', 'a 3'])
})

test('refuses a new request whose line would become as long as the longest one', async () => {
  // Attack: more networks than the queue has places, with one request each.
  const { ask, drain, refused } = world({ concurrency: 1, queue: 3 })
  for (const name of ['x 0', 'a 0', 'b 0', 'c 0', 'd 0']) ask(name)
  await drain()
  assert.deepEqual(refused, ['d 0'])
})

test('work of the service itself has no share, and can be dropped like any other', async () => {
  const { ask, drain, refused } = world({ concurrency: 1, queue: 20 })
  ask('b 0')
  ask('b 1')
  for (const i of times(19)) ask(`own ${i}`)
  ask('c 0')
  await drain()
  assert.deepEqual(refused, ['own 18'])
})

test('the load reports how much runs, waits and was dropped', async () => {
  const { turns, ask, end, drain } = world({ concurrency: 2, queue: 2 })
  for (const i of times(5)) ask(`a ${i}`)
  await end('')
  assert.deepEqual(turns.load(), { running: 2, queued: 2, refused: 1 })
  await end('a 0')
  assert.deepEqual(turns.load(), { running: 2, queued: 1, refused: 1 })
  await drain()
  assert.deepEqual(turns.load(), { running: 0, queued: 0, refused: 1 })
})

test('a queue without places accepts only what can run at once', async () => {
  const { ask, drain, refused } = world({ concurrency: 1, queue: 0 })
  for (const name of ['a 0', 'a 1', 'b 0']) ask(name)
  await drain()
  assert.deepEqual(refused, ['a 1', 'b 0'])
})
