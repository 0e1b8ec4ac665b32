import assert from 'node:assert/strict'
import { test } from 'node:test'
import { milliseconds, seconds } from './duration.ts'
import { endsWithin } from './within.ts'

test('waits for work that ends, whether it succeeds or fails', async () => {
  assert.equal(await endsWithin(seconds(60), Promise.resolve('done')), true)
  assert.equal(await endsWithin(seconds(60), Promise.reject(new Error('failed'))), true)
})

test('stops waiting for work that does not end in time, and ignores its later failure', async () => {
  const work = Promise.withResolvers<void>()
  assert.equal(await endsWithin(milliseconds(1), work.promise), false)
  work.reject(new Error('failed later'))
  await new Promise((resolve) => setImmediate(resolve))
})
