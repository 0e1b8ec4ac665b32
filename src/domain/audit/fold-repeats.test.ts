/** Which refusals have their own row, share one, or get none: D-207. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import type { ApiSessionId, EventId, IdentityId, RequestId } from '../../base/ids.ts'
import { minutes, seconds } from '../../base/time/duration.ts'
import type { AuditEvent, Happening } from './events.ts'
import { createFoldRepeats } from './fold-repeats.ts'

function setUp() {
  const clock = new ManualClock()
  const foldRepeats = createFoldRepeats({ clock })
  const fold = (happening: Happening, address = '192.0.2.1') => {
    const caller = { address, requestId: 'req' as RequestId, userAgent: undefined }
    const event: AuditEvent = { ...happening, id: 'event' as EventId, at: clock.now(), caller }
    return foldRepeats(event)
  }
  const times = (count: number, happening: Happening, address?: string) =>
    Array.from({ length: count }, () => fold(happening, address))
  return { clock, fold, times }
}

const method = { method: 'password' } as const
const UNKNOWN: Happening = {
  type: 'login.failed',
  identityId: undefined,
  reason: 'unknown-username',
  details: method,
}
const WRONG: Happening = {
  ...UNKNOWN,
  identityId: 'identity-1' as IdentityId,
  reason: 'wrong-password',
}
const TEN_ROWS = Array(10).fill(undefined)

test('the first ten refusals of a minute have a row each, and the others share one', () => {
  const { times } = setUp()
  assert.deepEqual(times(10, UNKNOWN), TEN_ROWS)
  const [first, ...others] = times(50, UNKNOWN)
  assert.ok(typeof first === 'object')
  for (const other of others) assert.deepEqual(other, first)
})

test('counts each minute, reason, type and network separately', () => {
  const { clock, fold, times } = setUp()
  times(10, UNKNOWN)
  const repeat = fold(UNKNOWN)
  assert.equal(fold({ ...UNKNOWN, reason: 'no-certificate' }), undefined)
  const refused = { type: 'enrollment.refused', identityId: undefined, details: method } as const
  assert.equal(fold({ ...refused, reason: 'token-unknown' }), undefined)
  assert.equal(fold(UNKNOWN, '192.0.2.2'), undefined)
  clock.pass(minutes(1))
  assert.deepEqual(times(10, UNKNOWN), TEN_ROWS)
  assert.notDeepEqual(fold(UNKNOWN), repeat)
})

test('two instances count in the same row', () => {
  const [one, other] = [setUp(), setUp()]
  one.times(10, UNKNOWN)
  other.times(10, UNKNOWN)
  assert.deepEqual(one.fold(UNKNOWN), other.fold(UNKNOWN))
})

test('the addresses of one /64 are one network', () => {
  const { fold, times } = setUp()
  times(10, UNKNOWN, '2001:db8::1')
  assert.ok(typeof fold(UNKNOWN, '2001:db8::ffff') === 'object')
  assert.equal(fold(UNKNOWN, '2001:db8:0:1::1'), undefined)
})

test('guesses at one identity have ten rows, from however many networks, and then one for each network', () => {
  const { fold } = setUp()
  const folds = Array.from({ length: 12 }, (_, i) => fold(WRONG, `192.0.2.${i}`))
  assert.deepEqual(folds.slice(0, 10), TEN_ROWS)
  assert.ok(typeof folds[10] === 'object' && typeof folds[11] === 'object')
  assert.notDeepEqual(folds[10], folds[11])
  assert.equal(fold({ ...WRONG, identityId: 'identity-2' as IdentityId }), undefined)
})

test('counts refusals of different sessions separately', () => {
  const { fold, times } = setUp()
  const refused = (sessionId: string): Happening => ({
    type: 'token.refused',
    identityId: 'identity-1' as IdentityId,
    sessionId: sessionId as ApiSessionId,
    reason: 'session-ended',
  })
  times(11, refused('session-1'))
  assert.equal(fold(refused('session-2')), undefined)
})

test('drops refusals without a known identity from many networks beyond a burst and one per second', () => {
  // Attack: each request comes from another IPv6 network, so that nothing is a repeat.
  const { clock, fold } = setUp()
  const flood = (count: number, salt: number) =>
    Array.from({ length: count }, (_, i) => fold(UNKNOWN, `2001:db8:${salt}:${i.toString(16)}::1`))
  const kept = (folds: readonly unknown[]) => folds.filter((one) => one !== 'dropped').length
  assert.equal(kept(flood(5_000, 1)), 600)
  clock.pass(seconds(7))
  assert.equal(kept(flood(5_000, 2)), 7)
  clock.pass(minutes(60))
  assert.equal(kept(flood(5_000, 3)), 600)
})

test('never drops an event about a known identity, and bounds the number of rows', () => {
  const { fold } = setUp()
  const folds = Array.from({ length: 70_000 }, (_, i) =>
    fold(WRONG, `2001:db8:${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}::1`),
  )
  assert.ok(!folds.includes('dropped'))
  const rows = new Set(folds.map((one, i) => (typeof one === 'object' ? one.key : i)))
  assert.equal(rows.size, 601)
})

test('every other event has its own row', () => {
  const { times } = setUp()
  const succeeded: Happening = {
    type: 'login.succeeded',
    sessionId: 's' as ApiSessionId,
    identityId: 'identity-1' as IdentityId,
    details: { ...method, authenticatorId: undefined, amr: [] },
  }
  assert.deepEqual(new Set(times(5_000, succeeded)), new Set([undefined]))
})
