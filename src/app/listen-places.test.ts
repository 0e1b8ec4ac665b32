import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RefusedStart } from './installation/private-files.ts'
import { explainListenError } from './listen-places.ts'

const errorOf = (code: string, address: string, port: number) =>
  Object.assign(new Error(`listen ${code}`), { code, address, port, syscall: 'listen' })

test('a place that is taken is named, with the likeliest reason', () => {
  const explained = explainListenError(errorOf('EADDRINUSE', '::1', 1280), 'default')
  const message = 'listener default: [::1]:1280 is already in use; is the service already running?'
  assert.ok(explained instanceof RefusedStart)
  assert.equal(explained.message, message)
})

test('a port that is not for this user is named, with what to do', () => {
  const explained = explainListenError(errorOf('EACCES', '0.0.0.0', 443), 'public')
  const message = 'listener public: this user may not listen on 0.0.0.0:443; use a port above 1023'
  assert.ok(explained instanceof RefusedStart)
  assert.equal(explained.message, message)
})

test('any other error stays as it is', () => {
  const error = errorOf('EMFILE', '0.0.0.0', 443)
  assert.equal(explainListenError(error, 'default'), error)
})
