import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_TYPES, type EventFacts } from '../../../domain/audit/event-types.ts'
import { meaningOf } from './meanings.ts'

const TYPES: readonly (readonly [string, EventFacts])[] = Object.entries(EVENT_TYPES)

test('every type and every reason is explained in a plain sentence', () => {
  for (const [type, { reasons = {} }] of TYPES) {
    for (const reason of [null, ...Object.keys(reasons)]) {
      assert.match(meaningOf(type, reason)?.what ?? '', /^[A-Zl][^`]*[.]$/, `${type} ${reason}`)
    }
  }
})

test('a reason for which an administrator can do something says what', () => {
  assert.deepEqual(meaningOf('login.failed', 'identity-disabled'), {
    what: 'The identity is disabled.',
    todo: 'Enable it, if that is right: latchkey enable identity IDENTITY',
  })
  // An administrator does not choose passwords for others.
  assert.match(
    meaningOf('login.failed', 'wrong-password')?.todo ?? '',
    /: latchkey reset password IDENTITY$/,
  )
  for (const reason of ['wrong-code', 'too-many-codes']) {
    assert.match(meaningOf('login.failed', reason)?.todo ?? '', /: latchkey reset mfa IDENTITY$/)
  }
  assert.deepEqual(meaningOf('session.ended', 'logout'), { what: 'Its holder logged out.' })
})

test('an unknown reason is explained by the type of its event', () => {
  assert.deepEqual(meaningOf('login.failed', 'from-the-future'), {
    what: 'A credential, a second factor or a code was refused.',
  })
  assert.equal(
    meaningOf('login.failed', 'constructor')?.what,
    meaningOf('login.failed', null)?.what,
  )
  assert.equal(meaningOf('from.the-future', null), undefined)
})
