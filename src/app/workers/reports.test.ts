import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Duration, milliseconds } from '../../base/time/duration.ts'
import type { Core } from '../core.ts'
import type { RunningWorker } from './pool.ts'
import { createReports } from './reports.ts'

test('D-294: a worker that does not answer is replaced, others are not', async () => {
  const replaced: string[] = []
  const isReplaced = Promise.withResolvers<void>()
  const worker = (name: string, number: number, answer: Promise<void>) =>
    ({
      number,
      channel: { ask: () => answer, closed: new Promise<void>(() => {}) },
      replace() {
        replaced.push(name)
        isReplaced.resolve()
      },
    }) as unknown as RunningWorker
  const everyone = [
    worker('well', 1, Promise.resolve()),
    worker('gone', 2, Promise.reject(new Error('the other process has ended'))),
    worker('silent', 3, new Promise(() => {})),
  ]
  const reports = createReports({
    everyone: () => everyone,
    clock: { uptime: () => 0 as Duration },
    log: { warn: () => assert.fail('there is nothing to warn of') },
    silenceLimit: milliseconds(20),
  })
  reports.follow({
    ports: {
      endedSessions: { age: () => undefined },
      rules: { state: () => undefined },
      signingKeys: { published: () => [] },
    },
    authorities: { caBundlePem: '', serverIssuingPem: '' },
  } as unknown as Core)
  reports.report()
  await isReplaced.promise
  assert.deepEqual(replaced, ['silent'])
})
