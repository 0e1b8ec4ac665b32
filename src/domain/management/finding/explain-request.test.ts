/** The checks of a refused login, in their order (D-359). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts'
import { aPolicy, rulesOf } from '../../../../test/support/people.ts'
import type { EventId, RequestId } from '../../../base/ids.ts'
import { LOGIN_FAILURES } from '../../audit/reasons.ts'
import type { RecordedEvent } from '../../audit/recorded-event.ts'
import { EXPLAINED_REASONS, explainRequest } from './explain-request.ts'

const clock = new ManualClock()

function portsWith(...rows: readonly RecordedEvent[]) {
  return {
    clock,
    rules: rulesOf({ policies: [aPolicy()] }),
    events: { list: async () => ({ rows, totalCount: rows.length }) },
    identities: { findMany: async () => new Map() },
  }
}

const failed = (method: string, reason: string, details: object = {}): RecordedEvent => ({
  id: 'event' as EventId,
  at: clock.now(),
  type: 'login.failed',
  identityId: undefined,
  identityName: undefined,
  sessionId: undefined,
  actorId: undefined,
  actorName: undefined,
  address: undefined,
  requestId: 'request' as RequestId,
  userAgent: undefined,
  reason,
  details: { method, ...details },
  count: 1,
})

test('every reason of a failed login is one of the checks', () => {
  assert.deepEqual([...EXPLAINED_REASONS].toSorted(), Object.keys(LOGIN_FAILURES).toSorted())
})

test('the checks before the failed one were passed, those after it were not made', async () => {
  const event = failed('password', 'identity-disabled', { username: 'alice' })
  const [explained] = await explainRequest(portsWith(event), 'request')
  assert.deepEqual(
    explained?.checks.map(({ name, outcome }) => `${name}: ${outcome}`),
    [
      'Username: passed',
      'Password: passed',
      'Identity: passed',
      'State of the identity: failed',
      'Policy: not-reached',
      'Failures: not-reached',
    ],
  )
  const received = explained?.checks.find(({ outcome }) => outcome === 'failed')?.received
  assert.equal(received, 'The identity is disabled. (username: alice)')
})

test('a second factor is explained after the first one, whatever method the event names', async () => {
  for (const [method, reason] of [
    ['totp', 'wrong-code'],
    ['password', 'secondary-jwt-missing'],
  ] as const) {
    const [explained] = await explainRequest(portsWith(failed(method, reason)), 'request')
    assert.equal(explained?.checks[0]?.name, 'First factor')
    assert.equal(explained?.checks.filter(({ outcome }) => outcome === 'failed').length, 1)
  }
})

test('an event of another kind, or with a reason of a newer version, has no checks', async () => {
  const events = [
    failed('password', 'from-the-future'),
    { ...failed('password', 'wrong-password'), type: 'token.refused' },
  ]
  for (const { checks } of await explainRequest(portsWith(...events), 'request')) {
    assert.deepEqual(checks, [])
  }
})
