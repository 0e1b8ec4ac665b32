import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Duration, milliseconds, seconds } from '../../base/time/duration.ts'
import type { Core } from '../core.ts'
import type { RunningWorker } from './pool.ts'
import { createReports } from './reports.ts'

const CORE = {
  ports: {
    endedSessions: { age: () => milliseconds(0) },
    rules: { state: () => undefined },
    signingKeys: { published: () => [] },
  },
  authorities: { caBundlePem: '', serverIssuingPem: '' },
} as unknown as Core

test('D-294: a worker that does not answer is replaced, others are not', async () => {
  const replaced: string[] = []
  const isReplaced = Promise.withResolvers<void>()
  const worker = (name: string, number: number, answer: Promise<unknown>) =>
    ({
      number,
      channel: { ask: () => answer, closed: new Promise<void>(() => {}) },
      replace() {
        replaced.push(name)
        isReplaced.resolve()
      },
    }) as unknown as RunningWorker
  const everyone = [
    worker('well', 1, Promise.resolve({ connections: 0 })),
    worker('gone', 2, Promise.reject(new Error('the other process has ended'))),
    worker('silent', 3, new Promise(() => {})),
  ]
  const reports = createReports({
    everyone: () => everyone,
    clock: { uptime: () => 0 as Duration },
    log: { warn: () => assert.fail('there is nothing to warn of') },
    silenceLimit: milliseconds(20),
  })
  reports.follow(CORE)
  reports.report()
  await isReplaced.promise
  assert.deepEqual(replaced, ['silent'])
})

/** Two workers that answer at once, with these numbers of connections; their reports are counted. */
function twoWorkers(connections: readonly [number, number]) {
  let uptime = 0
  const counts = [0, 0]
  const worker = (i: 0 | 1) =>
    ({
      number: i + 1,
      channel: {
        async ask(name: string) {
          assert.equal(name, 'state')
          counts[i] = (counts[i] ?? 0) + 1
          return { connections: connections[i] }
        },
        closed: new Promise<void>(() => {}),
      },
      replace: () => assert.fail('it answers'),
    }) as unknown as RunningWorker
  const everyone = [worker(0), worker(1)] as const
  const reports = createReports({
    everyone: () => everyone,
    clock: { uptime: () => uptime as Duration },
    log: { warn: () => assert.fail('there is nothing to warn of') },
  })
  reports.follow(CORE)
  async function beatAfter(time: Duration): Promise<void> {
    uptime += time
    reports.report('unchanged')
    await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    reports,
    everyone,
    beatAfter,
    /** Lets the beats of this time pass; returns how many reports each worker got since the last call. */
    async pass(time: Duration): Promise<readonly number[]> {
      for (const end = uptime + time; uptime < end; ) await beatAfter(seconds(1))
      return counts.splice(0, 2, 0, 0)
    },
  }
}

test('D-348: a worker without connections gets a report every ten seconds, others every two', async () => {
  const { pass } = twoWorkers([0, 3])
  assert.deepEqual(await pass(seconds(1)), [1, 1])
  assert.deepEqual(await pass(seconds(9)), [0, 4])
  assert.deepEqual(await pass(seconds(60)), [6, 30])
})

// Otherwise a busy machine doubles the age of the copies, and calls are refused as soon as another beat is late (D-34).
test('a report follows each beat of two seconds, even if the one before it came late', async () => {
  const { pass, beatAfter } = twoWorkers([3, 3])
  assert.deepEqual(await pass(seconds(1)), [1, 1])
  await beatAfter(milliseconds(2_300))
  await beatAfter(milliseconds(1_700))
  assert.deepEqual(await pass(seconds(0)), [2, 2])
})

// A worker whose copies are too old refuses every call (D-34).
test('D-348: a worker gets a report before its first connection, and then every two seconds', async () => {
  const { reports, everyone, pass } = twoWorkers([0, 0])
  assert.deepEqual(await pass(seconds(1)), [1, 1])
  assert.deepEqual(await pass(seconds(5)), [0, 0])
  // One report is enough for both. It is sent before the connections, so its answer says nothing about them.
  reports.beforeConnection(everyone[0])
  reports.beforeConnection(everyone[0])
  assert.deepEqual(await pass(seconds(1)), [1, 0])
  assert.deepEqual(await pass(seconds(1)), [1, 0])
  // That one was answered afterwards: the connections are gone.
  assert.deepEqual(await pass(seconds(2)), [0, 0])
})

test('D-348: idle workers get at once what was read, and a report before the metrics are read', async () => {
  const { reports, pass } = twoWorkers([0, 0])
  assert.deepEqual(await pass(seconds(1)), [1, 1])
  reports.noteEndings([{ sequence: 1 } as never])
  assert.deepEqual(await pass(seconds(1)), [1, 1])
  assert.deepEqual(await pass(seconds(3)), [0, 0])
  reports.renew()
  reports.renew()
  assert.deepEqual(await pass(seconds(1)), [1, 1])
})

// On startup, the supervisor reads every ending that is still relevant. After all sessions were ended, there can be more of
// them than one call accepts as arguments.
test('hundreds of thousands of endings are noted', async () => {
  const { reports, pass } = twoWorkers([3, 3])
  reports.noteEndings(Array.from({ length: 300_000 }, (_, sequence) => ({ sequence }) as never))
  assert.deepEqual(await pass(seconds(1)), [1, 1])
})
