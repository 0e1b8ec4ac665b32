/** How errors become failures: D-250. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable } from '../errors/store-unavailable.ts'
import { asFailure } from './error-replies.ts'

const reset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })

test('a connection that the caller reset is the caller’s fault', () => {
  const error = reset()
  assert.equal(asFailure(error, { errored: error }).code, 'BAD_REQUEST')
})

test('a reset connection of anything else is not, even with the same code', () => {
  assert.equal(asFailure(reset(), { errored: null }).code, 'UNHANDLED')
  assert.equal(asFailure(reset(), { errored: reset() }).code, 'UNHANDLED')
})

test('a database that cannot be used is 503, with the reason for the log alone', () => {
  const error = new StoreUnavailable('cannot use the database db: it is full', { cause: reset() })
  const { code, detail, retryAfterSeconds, cause } = asFailure(error, { errored: null })
  assert.deepEqual(
    { code, detail, retryAfterSeconds, cause },
    { code: 'NOT_READY', detail: error.message, retryAfterSeconds: 2, cause: error },
  )
})
