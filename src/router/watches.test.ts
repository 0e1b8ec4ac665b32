import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../test/support/clocks/manual-clock.ts'
import { aPolicy } from '../../test/support/people.ts'
import { milliseconds, seconds } from '../base/time/duration.ts'
import { plus } from '../base/time/instant.ts'
import { demandsOf } from '../domain/policies/demands-of.ts'
import type { Known } from './feed-copy.ts'
import { createWatches } from './watches.ts'

const DEMANDS = demandsOf(aPolicy(), [], [])

function startWatches() {
  const clock = new ManualClock()
  const ended = new Set<string>()
  const state = { isCutOff: false, policy: DEMANDS }
  const watches = createWatches({
    clock,
    copy: () => ({
      hasEnded: (subject) => ended.has(subject),
      isCutOff: () => state.isCutOff,
      known: () => ({ policies: new Map([[state.policy.id, state.policy]]) }) as unknown as Known,
    }),
  })
  const notices: string[] = []
  const watch = (name: string, subjects: readonly string[], until = plus(NOON, seconds(60))) =>
    watches.watch({ subjects, certificateExpiresAt: until }, (why) =>
      notices.push(`${name}: ${why}`),
    )
  return { clock, ended, state, notices, watch, watches }
}

test('every watcher of what has ended is told, once, and no other', () => {
  const { notices, watch, watches } = startWatches()
  watch('a', ['s1', 't1'])
  watch('b', ['s1', 't2'])
  watch('c', ['s2'])
  watches.tell('s1')
  watches.tell('t1')
  watches.tell('s1')
  assert.deepEqual(notices, ['a: ended', 'b: ended'])
})

// Attack: a WebSocket that was opened before a code was demanded stays open forever. Failed before D-232.
test('D-232: notifies only the watchers whose login no longer satisfies a changed policy', () => {
  const { state, notices, watches } = startWatches()
  const login = {
    policyId: 'policy-1',
    signerId: undefined,
    caId: undefined,
    boundTo: undefined,
    shown: 'cert',
  }
  const open = (name: string, amr: readonly string[]) =>
    watches.watch(
      { subjects: [name], certificateExpiresAt: plus(NOON, seconds(60)), login: { ...login, amr } },
      (why) => notices.push(`${name}: ${why}`),
    )
  open('password alone', ['pwd'])
  open('with a code', ['pwd', 'otp', 'mfa'])
  watches.judgeAgain()
  assert.deepEqual(notices, [])
  state.policy = { ...DEMANDS, requireTotp: true }
  watches.judgeAgain()
  watches.judgeAgain()
  assert.deepEqual(notices, ['password alone: policy'])
  open('too late', ['pwd'])
  assert.equal(notices.at(-1), 'too late: policy')
})

test('D-159: when everything has ended, every watcher is told, once, and later ones are watched as before', () => {
  const { notices, watch, watches } = startWatches()
  watch('a', ['s1'])
  watch('b', ['s2'])
  watches.endAll()
  watches.endAll()
  watches.tell('s1')
  assert.deepEqual(notices, ['a: ended', 'b: ended'])
  watch('c', ['s1'])
  assert.equal(notices.length, 2)
  watches.tell('s1')
  assert.equal(notices.at(-1), 'c: ended')
})

test('a watcher that has stopped is not told, and may stop twice', () => {
  const { notices, watch, watches } = startWatches()
  const stop = watch('a', ['s1'])
  stop()
  stop()
  watches.tell('s1')
  assert.deepEqual(notices, [])
})

test('what ended before the watch began is reported at once', () => {
  const { ended, notices, watch } = startWatches()
  ended.add('t1')
  watch('a', ['s1', 't1'])
  assert.deepEqual(notices, ['a: ended'])
})

test('a router that is cut off ends everything, also what begins then', () => {
  const { state, notices, watch, watches } = startWatches()
  watch('a', ['s1'])
  watches.look()
  assert.deepEqual(notices, [])
  state.isCutOff = true
  watches.look()
  watches.look()
  watch('b', ['s2'])
  assert.deepEqual(notices, ['a: cut-off', 'b: cut-off'])
})

// SPEC Limits: a certificate is valid only between its dates, also on a connection that is open.
test('a certificate that expires ends what relied on it, after its last moment', () => {
  const { clock, notices, watch, watches } = startWatches()
  watch('a', ['s1'], plus(NOON, seconds(10)))
  watch('b', ['s1'], plus(NOON, seconds(20)))
  clock.pass(seconds(10))
  watches.look()
  assert.deepEqual(notices, [])
  clock.pass(milliseconds(1))
  watches.look()
  assert.deepEqual(notices, ['a: certificate-expired'])
})

test('a watcher that is told may stop the others', () => {
  const { watches } = startWatches()
  const notices: string[] = []
  const accepted = { subjects: ['s1'], certificateExpiresAt: plus(NOON, seconds(60)) }
  watches.watch(accepted, () => {
    notices.push('first')
    stopSecond()
  })
  const stopSecond = watches.watch(accepted, () => notices.push('second'))
  watches.tell('s1')
  assert.deepEqual(notices, ['first'])
})
