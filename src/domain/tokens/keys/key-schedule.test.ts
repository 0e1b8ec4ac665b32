/** When a signing key signs and how long it is published: D-23, R061, R062. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Duration, days, hours, milliseconds, minutes } from '../../../base/time/duration.ts'
import { type Instant, instant, plus } from '../../../base/time/instant.ts'
import {
  activeFrom,
  describeKeys,
  goneKeys,
  isRotationDue,
  KEY_SET_MAX_AGE,
  PUBLISH_LEAD,
  publishedKeys,
  signingKey,
} from './key-schedule.ts'
import type { StoredSigningKey } from './signing-key.ts'

const NOON = instant(1_800_000_000_000)
const MOMENT = milliseconds(1)
const at = (after: Duration): Instant => plus(NOON, after)
const before = (end: Duration): Instant => at(milliseconds(end - MOMENT))

function key(kid: string, from: Instant, tokenLife: Duration = minutes(30)): StoredSigningKey {
  return {
    kid,
    generation: 1,
    algorithm: 'ES256',
    publicJwk: {},
    sealedPrivateJwk: '',
    createdAt: from,
    activeFrom: from,
    tokenLife,
  }
}

const kids = (keys: readonly StoredSigningKey[]) => keys.map(({ kid }) => kid)

test('D-23: a new key is published longer before its first use than a verifier may keep the key set', () => {
  assert.ok(PUBLISH_LEAD > KEY_SET_MAX_AGE)
})

test('D-23: the first key signs at once', () => {
  assert.equal(activeFrom([], NOON), NOON)
})

test('D-23: a successor signs after it has been published for the lead', () => {
  assert.equal(activeFrom([key('old', NOON)], at(days(3))), plus(at(days(3)), PUBLISH_LEAD))
})

test('D-23: a key that waits for its time is not overtaken by one made after it', () => {
  const waiting = key('waiting', at(minutes(10)))
  const next = activeFrom([key('old', NOON), waiting], at(minutes(1)))
  assert.equal(next, at(minutes(20)))
})

test('D-23: the newest key whose time has come signs', () => {
  const keys = [key('old', NOON), key('new', at(minutes(10)))]
  assert.equal(signingKey(keys, before(minutes(10)))?.kid, 'old')
  assert.equal(signingKey(keys, at(minutes(10)))?.kid, 'new')
})

test('no key signs before the first one is there', () => {
  assert.equal(signingKey([], NOON), undefined)
})

test('D-135: the only key signs, also for an instance whose clock is behind the one that made it', () => {
  assert.equal(signingKey([key('later', at(minutes(1)))], NOON)?.kid, 'later')
})

test('API 3.3: every published key has a state, and an end from the moment it has a successor', () => {
  const keys = [
    key('old', NOON, minutes(30)),
    key('now', at(minutes(10)), minutes(30)),
    key('next', at(minutes(20))),
  ].map((one, i) => ({ ...one, generation: i + 1 }))
  const described = describeKeys(keys, at(minutes(15))).map((one) => ({
    kid: one.key.kid,
    state: one.state,
    until: one.publishedUntil,
  }))
  assert.deepEqual(described, [
    { kid: 'old', state: 'retiring', until: at(minutes(40)) },
    { kid: 'now', state: 'signing', until: at(minutes(50)) },
    { kid: 'next', state: 'waiting', until: undefined },
  ])
  const later = describeKeys(keys, at(minutes(40)))
  assert.deepEqual(
    later.map((one) => one.key.kid),
    ['now', 'next'],
  )
})

test('R061: a key is published from its making until the last token that it signed has died', () => {
  const keys = [key('old', NOON, minutes(30)), key('new', at(minutes(10)))]
  assert.deepEqual(kids(publishedKeys(keys, NOON)), ['old', 'new'])
  // The successor signs from minute 10 on; a token of the last moment before lives for 30 minutes more.
  assert.deepEqual(kids(publishedKeys(keys, before(minutes(40)))), ['old', 'new'])
  assert.deepEqual(kids(publishedKeys(keys, at(minutes(40)))), ['new'])
})

test('R061: a key stays as long as its own longest token, whatever the successor signs', () => {
  const keys = [key('old', NOON, hours(24)), key('new', at(minutes(10)), minutes(1))]
  assert.deepEqual(kids(publishedKeys(keys, before(milliseconds(hours(24) + minutes(10))))), [
    'old',
    'new',
  ])
  assert.deepEqual(kids(publishedKeys(keys, at(milliseconds(hours(24) + minutes(10))))), ['new'])
})

test('a key is gone exactly when it is no longer published', () => {
  const keys = [key('first', NOON), key('second', at(hours(1))), key('third', at(hours(2)))]
  for (const now of [NOON, before(minutes(90)), at(minutes(90)), at(minutes(150)), at(days(365))]) {
    const gone = kids(goneKeys(keys, now))
    const published = kids(publishedKeys(keys, now))
    assert.deepEqual([...gone, ...published], ['first', 'second', 'third'])
  }
  assert.deepEqual(kids(goneKeys(keys, at(days(365)))), ['first', 'second'])
})

test('D-23: rotation is due so early that the successor signs when the key reaches its age', () => {
  const rotation = days(90)
  const keys = [key('old', NOON)]
  const due = milliseconds(rotation - PUBLISH_LEAD)
  assert.equal(isRotationDue(keys, rotation, before(due)), false)
  assert.equal(isRotationDue(keys, rotation, at(due)), true)
  assert.equal(activeFrom(keys, at(due)), at(rotation))
})

test('D-23: rotation is due when there is no key, and not while a successor waits', () => {
  assert.equal(isRotationDue([], days(90), NOON), true)
  const keys = [key('old', NOON), key('waiting', at(days(90)))]
  assert.equal(isRotationDue(keys, days(90), at(days(90))), false)
})
