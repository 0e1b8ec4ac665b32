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

let generation = 0

function key(kid: string, from: Instant, tokenLife: Duration = minutes(30)): StoredSigningKey {
  return {
    kid,
    generation: ++generation,
    purpose: 'access',
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
  assert.equal(activeFrom([], 'access', NOON), NOON)
})

test('D-23: a successor signs after it has been published for the lead', () => {
  assert.equal(
    activeFrom([key('old', NOON)], 'access', at(days(3))),
    plus(at(days(3)), PUBLISH_LEAD),
  )
})

test('D-23: a key that waits for its time is not overtaken by one made after it', () => {
  const waiting = key('waiting', at(minutes(10)))
  const next = activeFrom([key('old', NOON), waiting], 'access', at(minutes(1)))
  assert.equal(next, at(minutes(20)))
})

test('D-23: the newest key whose time has come signs', () => {
  const keys = [key('old', NOON), key('new', at(minutes(10)))]
  assert.equal(signingKey(keys, 'access', before(minutes(10)))?.kid, 'old')
  assert.equal(signingKey(keys, 'access', at(minutes(10)))?.kid, 'new')
})

test('no key signs before the first one is there', () => {
  assert.equal(signingKey([], 'access', NOON), undefined)
})

test('D-135: the only key signs, also for an instance whose clock is behind the one that made it', () => {
  assert.equal(signingKey([key('later', at(minutes(1)))], 'access', NOON)?.kid, 'later')
})

test('API 3.3: every published key has a state, and an end from the moment it has a successor', () => {
  const keys = [
    key('old', NOON, minutes(30)),
    key('now', at(minutes(10)), minutes(30)),
    key('next', at(minutes(20))),
  ]
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
  assert.equal(isRotationDue(keys, 'access', { algorithm: 'ES256', rotation }, before(due)), false)
  assert.equal(isRotationDue(keys, 'access', { algorithm: 'ES256', rotation }, at(due)), true)
  assert.equal(activeFrom(keys, 'access', at(due)), at(rotation))
})

test('D-23: rotation is due when there is no key, and not while a successor waits', () => {
  assert.equal(isRotationDue([], 'access', { algorithm: 'ES256', rotation: days(90) }, NOON), true)
  const keys = [key('old', NOON), key('waiting', at(days(90)))]
  assert.equal(
    isRotationDue(keys, 'access', { algorithm: 'ES256', rotation: days(90) }, at(days(90))),
    false,
  )
})

test('D-320: access tokens and ID tokens have a chain of keys each', () => {
  const keys = [
    key('access 1', NOON),
    { ...key('id 1', NOON), purpose: 'id' as const },
    { ...key('id 2', at(minutes(10))), purpose: 'id' as const },
  ]
  const later = at(minutes(10))
  assert.equal(signingKey(keys, 'access', later)?.kid, 'access 1')
  assert.equal(signingKey(keys, 'id', later)?.kid, 'id 2')
  assert.deepEqual(
    describeKeys(keys, later).map(({ key: { kid }, state }) => [kid, state]),
    [
      ['access 1', 'signing'],
      ['id 1', 'retiring'],
      ['id 2', 'signing'],
    ],
  )
  // The successor of an ID token's key ends no key of access tokens.
  assert.deepEqual(kids(publishedKeys(keys, at(minutes(40)))), ['access 1', 'id 2'])
  assert.deepEqual(kids(goneKeys(keys, at(minutes(40)))), ['id 1'])
})

test('D-320: a key from before signs both kinds, and stays until each kind has a successor', () => {
  const old = { ...key('old', NOON), purpose: 'any' as const }
  const id = { ...key('id', at(minutes(10))), purpose: 'id' as const }
  const rotation = days(90)
  assert.equal(isRotationDue([old], 'access', { algorithm: 'ES256', rotation }, NOON), false)
  assert.equal(isRotationDue([old], 'id', { algorithm: 'RS256', rotation }, NOON), true)
  assert.equal(signingKey([old, id], 'id', NOON)?.kid, 'old')
  assert.equal(signingKey([old, id], 'id', at(minutes(10)))?.kid, 'id')
  assert.equal(signingKey([old, id], 'access', at(minutes(10)))?.kid, 'old')
  assert.deepEqual(goneKeys([old, id], at(days(10))), [])
  const access = { ...key('access', at(days(10))), purpose: 'access' as const }
  assert.deepEqual(kids(goneKeys([old, id, access], at(days(11)))), ['old'])
  assert.equal(describeKeys([old, id], at(minutes(10)))[0]?.state, 'signing')
})
