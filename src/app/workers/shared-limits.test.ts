/** Limits of all workers together, with a channel that is a function call. D-290. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { createCountRenewal } from '../../domain/enrollments/renewal/renewal-limit.ts'
import { createAddressFailures } from '../../domain/factors/guessing/failures.ts'
import { createTurns } from '../../domain/factors/guessing/turns.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Limits } from '../compose/limits.ts'
import { openChannel, type Peer } from './channel.ts'
import type { ToSupervisor } from './messages.ts'
import { askForLimits, serveLimits } from './shared-limits.ts'

/** Two ends of a channel; messages are copied, as between processes. */
function peers(): [Peer & EventEmitter, Peer & EventEmitter] {
  const ends = [new EventEmitter(), new EventEmitter()]
  const made = ends.map((end, i) =>
    Object.assign(end, {
      connected: true,
      send(message: unknown, _handle: unknown, _options: unknown, sent: (e: null) => void) {
        const copy = JSON.parse(JSON.stringify(message))
        setImmediate(() => ends[1 - i]?.emit('message', copy, undefined))
        sent(null)
        return true
      },
    }),
  )
  return made as never
}

function world(concurrency = 1, failures = 3) {
  const clock = new ManualClock()
  const limits: Limits = {
    hashingTurns: createTurns({ purpose: 'hashing', concurrency, queue: 1 }),
    returnTurns: createTurns({ purpose: 'returns', concurrency, queue: 1 }),
    addressFailures: createAddressFailures({ limit: failures, clock }),
    enrollmentFailures: createAddressFailures({ limit: failures, clock }),
    userCodeFailures: createAddressFailures({ limit: failures, clock }),
    allUserCodeFailures: createAddressFailures({ limit: failures, clock }),
    countRenewal: createCountRenewal({ clock }),
  }
  const join = () => {
    const [here, there] = peers()
    const { giveBackAll, ...handlers } = serveLimits(limits)
    openChannel(here, handlers as never)
    return {
      limits: askForLimits(openChannel<never, ToSupervisor>(there, {} as never)),
      giveBackAll,
    }
  }
  return { limits, one: join(), two: join() }
}

const refusedWith = (code: string) => (error: unknown) =>
  error instanceof Failure && error.code === code

const wrong = (limits: Limits) => limits.addressFailures.guard('192.0.2.1', async (fail) => fail())

test('workers share the failures of an address, and hear the same refusal', async () => {
  const { one, two } = world()
  await wrong(one.limits)
  await wrong(two.limits)
  await wrong(one.limits)
  for (const { limits } of [one, two]) {
    await assert.rejects(wrong(limits), refusedWith('RATE_LIMITED'))
  }
  await assert.rejects(wrong(one.limits), (error: Failure) => error.retryAfterSeconds === 60)
})

test('a right guess gives its place back', async () => {
  const { one, two } = world(1, 1)
  for (let i = 0; i < 5; i++) await one.limits.addressFailures.guard('192.0.2.1', async () => {})
  await wrong(two.limits)
  await assert.rejects(wrong(one.limits), refusedWith('RATE_LIMITED'))
})

test('workers wait for each other in one queue, and a full queue refuses', async () => {
  const { limits, one, two } = world()
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const first = one.limits.hashingTurns.run('a', async () => {
    order.push('first')
    await gate.promise
  })
  const second = two.limits.hashingTurns.run('b', async () => void order.push('second'))
  while (limits.hashingTurns.load().queued === 0) await new Promise(setImmediate)
  await assert.rejects(
    one.limits.hashingTurns.run('c', async () => {}),
    refusedWith('SERVER_TOO_BUSY'),
  )
  assert.deepEqual(order, ['first'])
  gate.resolve()
  await Promise.all([first, second])
  assert.deepEqual(order, ['first', 'second'])
})

test('a worker that ends gives back what it held and what it waited for', async () => {
  const { limits, one, two } = world()
  void one.limits.hashingTurns.run('a', () => new Promise(() => {}))
  while (limits.hashingTurns.load().running === 0) await new Promise(setImmediate)
  void one.limits.hashingTurns.run('a', () => assert.fail())
  while (limits.hashingTurns.load().queued === 0) await new Promise(setImmediate)
  one.giveBackAll()
  assert.equal(await two.limits.hashingTurns.run('b', async () => 'its turn'), 'its turn')
  while (limits.hashingTurns.load().running > 0) await new Promise(setImmediate)
})

test('an error of the work is the error of the caller, and gives the place back', async () => {
  const { one, two } = world()
  const failing = one.limits.returnTurns.run('a', async () => {
    throw new RangeError('of the work')
  })
  await assert.rejects(failing, RangeError)
  assert.equal(await two.limits.returnTurns.run('b', async () => 1), 1)
})
