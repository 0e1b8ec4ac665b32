import assert from 'node:assert/strict'
import { test } from 'node:test'
import { abortable } from './abortable.ts'

const reason = new Error('enough')

test('returns what the work returns, or throws what it throws', async () => {
  const { signal } = new AbortController()
  assert.equal(await abortable(Promise.resolve(1), signal), 1)
  assert.equal(await abortable(Promise.resolve(1), undefined), 1)
  await assert.rejects(abortable(Promise.reject(reason), signal), reason)
})

test('throws the reason when the signal aborts, before or during the wait', async () => {
  const never = new Promise<never>(() => undefined)
  await assert.rejects(abortable(never, AbortSignal.abort(reason)), reason)
  const controller = new AbortController()
  const waiting = abortable(never, controller.signal)
  controller.abort(reason)
  await assert.rejects(waiting, reason)
})

test('ignores a failure of the work that comes after the signal', async () => {
  const work = Promise.withResolvers<void>()
  await assert.rejects(abortable(work.promise, AbortSignal.abort(reason)), reason)
  // An unhandled rejection would fail this test.
  work.reject(new Error('too late'))
  await new Promise(setImmediate)
})
