/** Who has confirmed an end, and until when the others may still act on what they knew. D-381, D-382. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON } from '../../../../test/support/clocks/manual-clock.ts'
import type { IdentityId } from '../../../base/ids.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../../base/secrets/vault.ts'
import { minutes, seconds } from '../../../base/time/duration.ts'
import { minus, plus } from '../../../base/time/instant.ts'
import { judge } from './confirmations.ts'
import type { ConfirmingInstance } from './confirming-instance.ts'
import { readEndingId, thingOf, writeEndingId } from './ending-id.ts'
import { positionOf } from './position.ts'
import type { ShownRun } from './stores.ts'

const THING = { ranges: [[5, 5]] as const, at: NOON }
const step = (upTo: number, at = NOON) => ({ position: positionOf(upTo, []), at })

function aRun(changes: Partial<ShownRun> = {}): ShownRun {
  return {
    routerId: 'router-1' as IdentityId,
    run: 'program-1',
    name: 'edge',
    feed: 'feed-1',
    openedAt: minus(NOON, minutes(5)),
    closedAt: undefined,
    contactAt: NOON,
    steps: [],
    ...changes,
  }
}

function anInstance(changes: Partial<ConfirmingInstance> = {}): ConfirmingInstance {
  return { id: 'i', host: 'h', seenAt: NOON, steps: [step(9)], ...changes }
}

test('everyone has confirmed, with the time of the first confirmation that contains it', () => {
  const later = plus(NOON, seconds(2))
  const steps = [step(4, minus(NOON, seconds(9))), step(5, plus(NOON, seconds(1))), step(6, later)]
  const state = judge(THING, [aRun({ steps })], [anInstance()], later)
  assert.equal(state.outcome, 'confirmed')
  assert.equal(state.routers[0]?.confirmedAt, plus(NOON, seconds(1)))
  assert.equal(state.routers[0]?.refusesAt, undefined)
})

test('a number below the confirmed one that was not seen is not confirmed', () => {
  // Attack on the proof: an ending whose transaction commits late has a lower number than one that is confirmed.
  const steps = [{ position: positionOf(4, [6]), at: NOON }]
  const state = judge(THING, [aRun({ steps })], [anInstance()], NOON)
  assert.deepEqual([state.outcome, state.routers[0]?.state], ['pending', 'waiting'])
})

test('a router that lost its feed refuses thirty seconds later, however long ago the end is', () => {
  const run = aRun({ closedAt: minus(NOON, seconds(20)), steps: [step(4)] })
  const [router] = judge(THING, [run], [anInstance()], NOON).routers
  assert.deepEqual([router?.state, router?.refusesAt], ['cut-off', plus(NOON, seconds(10))])
  assert.equal(judge(THING, [run], [anInstance()], plus(NOON, seconds(10))).outcome, 'elapsed')
})

test('a router that is connected has it or refuses after 35 seconds, also one that does not confirm', () => {
  for (const run of [aRun(), aRun({ run: '~feed-1', contactAt: minus(NOON, minutes(60)) })]) {
    const state = judge(THING, [run], [anInstance()], NOON)
    assert.equal(state.outcome, 'pending')
    assert.equal(state.routers[0]?.refusesAt, plus(NOON, seconds(35)))
    assert.equal(state.certainAt, plus(NOON, seconds(35)))
  }
  // Its instance ended without a word.
  const silent = aRun({ contactAt: minus(NOON, minutes(2)) })
  assert.equal(judge(THING, [silent], [anInstance()], NOON).routers[0]?.state, 'cut-off')
})

test('two programs of one router confirm separately', () => {
  const runs = [aRun({ steps: [step(5)] }), aRun({ run: 'program-2', steps: [step(4)] })]
  const state = judge(THING, runs, [anInstance()], NOON)
  assert.equal(state.outcome, 'pending')
  assert.deepEqual(
    state.routers.map((one) => one.state),
    ['confirmed', 'waiting'],
  )
})

test('a router that refused everything before the end has nothing to confirm', () => {
  const run = aRun({ closedAt: minus(NOON, seconds(30)) })
  const state = judge(THING, [run], [anInstance()], NOON)
  assert.deepEqual([state.outcome, state.routers], ['confirmed', []])
})

test('an instance that has not confirmed refuses after five seconds, and is gone after three minutes', () => {
  const other = anInstance({ id: 'other', steps: [step(4)] })
  const state = judge(THING, [], [anInstance(), other], NOON)
  assert.equal(state.outcome, 'pending')
  assert.equal(state.instances[1]?.refusesAt, plus(NOON, seconds(5)))
  assert.equal(judge(THING, [], [anInstance(), other], plus(NOON, seconds(5))).outcome, 'elapsed')
  const gone = anInstance({ id: 'gone', steps: [], seenAt: minus(NOON, minutes(3)) })
  assert.equal(judge(THING, [], [anInstance(), gone], NOON).outcome, 'confirmed')
})

test('D-382: an id of another installation, or that was changed, is not one', () => {
  const vault = () => createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
  const here = vault()
  const ending = { subject: 'cert:a' as const, at: NOON, keepUntil: NOON }
  const thing = thingOf([3, 4, 9].map((sequence) => ({ ...ending, sequence })))
  assert.deepEqual(thing, {
    at: NOON,
    ranges: [
      [3, 4],
      [9, 9],
    ],
  })
  assert.ok(thing)
  const id = writeEndingId(here, thing)
  assert.deepEqual(readEndingId(here, id), thing)
  assert.equal(readEndingId(vault(), id), undefined)
  for (const wrong of ['', '.', id.replace('3-4', '3-5'), `${id}x`, ` ${id}`, 'x'.repeat(9_999)]) {
    assert.equal(readEndingId(here, wrong), undefined, wrong.slice(0, 40))
  }
  assert.equal(thingOf([ending]), undefined)
})
