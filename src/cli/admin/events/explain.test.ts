import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf } from '../check-signer.ts'
import { meaningFor } from './explain.ts'

const failed = (reason: string, username: string) => ({
  type: 'login.failed',
  reason,
  identityId: 'i1',
  details: { method: 'password', username },
})

test('a command that is suggested has the names of the event in it', () => {
  const names = new Map([['i1', 'Alice Smith']])
  const { what, todo } = meaningFor(failed('identity-disabled', 'alice'), names)
  assert.equal(what, 'The identity is disabled.')
  assert.match(todo ?? '', /latchkey enable identity 'Alice Smith'$/)
  assert.match(meaningFor(failed('password-locked', 'alice'), names).todo ?? '', /unlock alice$/)
})

test('a name that another user chose runs nothing in the shell that it is pasted into', () => {
  // Attack: an anonymous caller tries to log in as "$(…)", and the administrator pastes what explain suggests.
  const { todo = '' } = meaningFor(
    failed('password-locked', "$(reboot)';\u001b[A reboot"),
    new Map(),
  )
  assert.ok(todo.endsWith("latchkey unlock '$(reboot)'\\'';\u{fffd}[A reboot'"), todo)
})

test('an unknown type is described by its own words', () => {
  assert.deepEqual(meaningFor({ type: 'a.b', reason: 'c' }, new Map()), { what: 'a.b: c' })
})

test('a step of a checked JWT says what was expected and what came where it fails', () => {
  const step = {
    step: 'audience',
    expected: 'us',
    received: 'them',
    message: 'is another',
  } as const
  assert.deepEqual(linesOf({ ...step, passed: false }, 9), [
    '✗ audience   is another',
    '             expected: us',
    '             received: them',
  ])
  assert.deepEqual(linesOf({ ...step, passed: true }, 9), ['✓ audience   is another'])
  assert.deepEqual(linesOf({ ...step, passed: null }, 9), ['? audience   is another'])
})
