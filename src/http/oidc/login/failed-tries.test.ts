import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuthRequestKey } from '../../../domain/login/request/auth-request.ts'
import { createFailedTries } from './failed-tries.ts'

const key = (text: string) => text as AuthRequestKey

test('reports several failures from the third failure of a login on', () => {
  const tries = createFailedTries()
  const answers = Array.from({ length: 5 }, () => tries.add(key('a')))
  assert.deepEqual(answers, [false, false, true, true, true])
  assert.equal(tries.add(key('b')), false)
})

test('bounds its memory: forgets the login whose last failure is the oldest', () => {
  // Attack: one failure in each of ever new logins.
  const tries = createFailedTries()
  for (let i = 0; i < 2; i++) tries.add(key('old'))
  for (let i = 0; i < 2; i++) tries.add(key('young'))
  for (let i = 0; i < 9_999; i++) tries.add(key(`${i}`))
  assert.equal(tries.add(key('young')), true)
  assert.equal(tries.add(key('old')), false)
})
