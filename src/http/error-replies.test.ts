/** How errors become failures: D-250. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable } from '../errors/store-unavailable.ts'
import { asFailure } from './error-replies.ts'

const reset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })

test('a connection that the caller reset is an error of the caller', () => {
  const error = reset()
  assert.equal(asFailure(error, { errored: error }).code, 'BAD_REQUEST')
})

test('any other reset connection is not, even with the same code', () => {
  assert.equal(asFailure(reset(), { errored: null }).code, 'UNHANDLED')
  assert.equal(asFailure(reset(), { errored: reset() }).code, 'UNHANDLED')
})

test('answers 503 if the database cannot be used, with the reason only in the log', () => {
  const error = new StoreUnavailable('cannot use the database db: it is full', { cause: reset() })
  const { code, detail, retryAfterSeconds, cause } = asFailure(error, { errored: null })
  assert.deepEqual(
    { code, detail, retryAfterSeconds, cause },
    { code: 'NOT_READY', detail: error.message, retryAfterSeconds: 2, cause: error },
  )
})
