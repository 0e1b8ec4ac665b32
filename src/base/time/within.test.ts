import assert from 'node:assert/strict'
import { test } from 'node:test'
import { milliseconds, seconds } from './duration.ts'
import { endsWithin } from './within.ts'

test('work that ends is waited for, whether it ends well or not', async () => {
  assert.equal(await endsWithin(seconds(60), Promise.resolve('done')), true)
  assert.equal(await endsWithin(seconds(60), Promise.reject(new Error('failed'))), true)
})

test('work that does not end is not waited for any longer, and may fail later', async () => {
  const work = Promise.withResolvers<void>()
  assert.equal(await endsWithin(milliseconds(1), work.promise), false)
  work.reject(new Error('failed later'))
  await new Promise((resolve) => setImmediate(resolve))
})
