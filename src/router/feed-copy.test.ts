import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ManualClock, NOON } from '../../test/support/clocks/manual-clock.ts'
import { openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { hours, milliseconds, seconds } from '../base/time/duration.ts'
import { plus } from '../base/time/instant.ts'
import { CUT_OFF_AFTER, createFeedCopy } from './feed-copy.ts'
import { FeedFault, type FeedLine } from './feed-lines.ts'

const pki = await openEdgePki()
after(() => pki.close())
const keys: FeedLine = { type: 'keys', keys: pki.jwks as never }
const cas: FeedLine = { type: 'cas', cas: pki.cas }

const hello = (changes: object = {}): FeedLine => ({
  type: 'hello',
  brand: 'service',
  trustDomain: 'latchkey',
  issuers: ['https://one/oidc'],
  isSnapshot: true,
  ...changes,
})
const ready = (cursor = 'c1'): FeedLine => ({ type: 'ready', cursor })
const heartbeat = (cursor = 'c1'): FeedLine => ({ type: 'heartbeat', cursor })
const ended = (subject: string, after = seconds(60)): FeedLine => ({
  type: 'ended',
  subject,
  keepUntil: plus(NOON, after),
  keepFor: after,
})

function startCopy() {
  const clock = new ManualClock()
  const told: string[] = []
  const copy = createFeedCopy({ clock, onEnded: (subject) => told.push(subject) })
  const feed = (...lines: readonly FeedLine[]) => {
    const reception = copy.receive()
    for (const line of lines) reception.take(line)
    return reception
  }
  return { clock, told, copy, feed }
}

test('D-159: a new epoch is reported when the feed is ready with it; the same one, and the first, are not', () => {
  let epochs = 0
  const copy = createFeedCopy({
    clock: new ManualClock(),
    onEnded() {},
    onNewEpoch: () => epochs++,
  })
  const feed = (...lines: readonly FeedLine[]) => {
    const reception = copy.receive()
    for (const line of lines) reception.take(line)
    return reception
  }
  feed(hello({ epoch: 'one' }), keys, cas, ready()).take(keys)
  feed(hello({ epoch: 'one' }), keys, cas, ready())
  assert.equal(epochs, 0)
  const next = feed(hello({ epoch: 'two' }), keys, cas)
  assert.equal(epochs, 0)
  next.take(ready())
  assert.equal(epochs, 1)
  next.take(keys)
  assert.equal(epochs, 1)
})

describe('a router knows', () => {
  test('nothing before the first feed is ready and has beaten', () => {
    const { copy, feed } = startCopy()
    assert.equal(copy.known(), undefined)
    assert.equal(copy.isCutOff(), true)
    const reception = feed(hello(), keys, cas, heartbeat())
    assert.equal(copy.known(), undefined)
    assert.equal(copy.isCutOff(), true)
    reception.take(ready())
    assert.equal(copy.known()?.brand, 'service')
    // The controller may be blind itself: it greets, but it does not beat.
    assert.equal(copy.isCutOff(), true)
    reception.take(heartbeat())
    assert.equal(copy.isCutOff(), false)
  })

  test('what it knew, when a later snapshot is cut before its end', () => {
    const { copy, feed } = startCopy()
    feed(hello(), keys, cas, ended('s1'), ready('c1'), heartbeat('c2'))
    feed(hello({ issuers: ['https://other/oidc'], brand: 'other' }), keys)
    assert.deepEqual(copy.known()?.issuers, ['https://one/oidc'])
    assert.equal(copy.known()?.brand, 'service')
    assert.equal(copy.hasEnded('s1'), true)
    assert.equal(copy.cursor(), 'c2')
  })

  test('what a whole later snapshot says', () => {
    const { copy, feed } = startCopy()
    feed(hello(), keys, cas, ready(), heartbeat())
    feed(hello({ issuers: ['https://other/oidc'] }), keys, cas, ready('c9'))
    assert.deepEqual(copy.known()?.issuers, ['https://other/oidc'])
    assert.equal(copy.cursor(), 'c9')
  })

  test('new keys and CAs from the moment they come, once the feed is ready', () => {
    const { copy, feed } = startCopy()
    const reception = feed(hello(), keys, cas, ready())
    const first = copy.known()
    reception.take(keys)
    assert.notEqual(copy.known()?.keys, first?.keys)
    assert.equal(copy.known()?.cas, first?.cas)
    reception.take(cas)
    assert.notEqual(copy.known()?.cas, first?.cas)
  })
})

describe('what has ended', () => {
  test('counts at once, also in a snapshot that is cut', () => {
    const { copy, feed, told } = startCopy()
    feed(hello(), ended('s1'))
    assert.equal(copy.hasEnded('s1'), true)
    assert.deepEqual(told, ['s1'])
  })

  test('is reported once, however often it comes', () => {
    const { feed, told } = startCopy()
    feed(hello(), keys, cas, ended('s1'), ended('s1'), ready(), ended('s1'))
    feed(hello({ isSnapshot: false }), keys, cas, ended('s1'), ended('s2'), ready())
    assert.deepEqual(told, ['s1', 's2'])
  })

  // R101: another instance of the controller may not have heard of an end when it sends its snapshot.
  test('stays ended when a later snapshot does not have it', () => {
    const { copy, feed } = startCopy()
    feed(hello(), keys, cas, ended('s1'), ready())
    feed(hello(), keys, cas, ready())
    assert.equal(copy.hasEnded('s1'), true)
  })

  test('is forgotten when its time is over, by the latest time that was said', () => {
    const { clock, copy, feed } = startCopy()
    feed(hello(), keys, cas, ended('s1', seconds(20)), ended('s1', seconds(10)), ready())
    clock.pass(seconds(19))
    copy.forgetExpired()
    assert.equal(copy.hasEnded('s1'), true)
    clock.pass(seconds(1))
    copy.forgetExpired()
    assert.equal(copy.hasEnded('s1'), false)
  })

  // Attack: the router's clock is ahead for a moment, and a session that was ended is accepted again. Failed before
  // D-230.
  test('R115: stays ended while the time of day is ahead, and after it is corrected', () => {
    for (const line of [
      ended('s1', seconds(20)),
      { ...ended('s1', seconds(20)), keepFor: undefined },
    ]) {
      const { clock, copy, feed } = startCopy()
      feed(hello(), keys, cas, line as FeedLine, ready())
      clock.jump(hours(1))
      copy.forgetExpired()
      assert.equal(copy.hasEnded('s1'), true)
      clock.jump(milliseconds(-hours(1)))
      assert.equal(copy.hasEnded('s1'), true)
    }
  })

  test('R115: is not forgotten if it arrives while the time of day is ahead', () => {
    const { clock, copy, feed } = startCopy()
    clock.jump(hours(1))
    feed(hello(), keys, cas, ended('s1', seconds(20)), ready())
    copy.forgetExpired()
    clock.jump(milliseconds(-hours(1)))
    assert.equal(copy.hasEnded('s1'), true)
  })

  test('is reported even if it has already expired', () => {
    const { feed, told } = startCopy()
    feed(hello(), ended('late', seconds(-5)))
    assert.deepEqual(told, ['late'])
  })
})

describe('a router is cut off', () => {
  test('after 30 s without a heartbeat, whatever else comes, and until the next one', () => {
    const { clock, copy, feed } = startCopy()
    const reception = feed(hello(), keys, cas, ready(), heartbeat())
    clock.pass(CUT_OFF_AFTER)
    assert.equal(copy.isCutOff(), false)
    clock.pass(milliseconds(1))
    assert.equal(copy.isCutOff(), true)
    reception.take(keys)
    reception.take(ended('s1'))
    assert.equal(copy.isCutOff(), true)
    reception.take(heartbeat())
    assert.equal(copy.isCutOff(), false)
  })

  // An instance that has lost its database still greets; a router that reconnects every few seconds must not
  // take each greeting for news.
  test('also when it reconnects again and again to a controller that only greets', () => {
    const { clock, copy, feed } = startCopy()
    feed(hello(), keys, cas, ready(), heartbeat())
    for (let i = 0; i < 11; i++) {
      clock.pass(seconds(3))
      feed(hello({ isSnapshot: false }), keys, cas, ready())
    }
    assert.equal(copy.isCutOff(), true)
  })
})

describe('a feed is refused', () => {
  const noCas: FeedLine = { type: 'cas', cas: 'no PEM at all' }
  const noKeys: FeedLine = { type: 'keys', keys: [] }
  const cases: readonly (readonly [string, () => readonly FeedLine[], string])[] = [
    ['that does not begin with hello', () => [ended('s1')], 'it does not begin with hello'],
    ['that begins with a heartbeat', () => [heartbeat()], 'it does not begin with hello'],
    ['that begins twice', () => [hello(), hello()], 'a second hello'],
    ['that has no keys', () => [hello(), cas, ready()], 'it is ready without keys or CAs'],
    ['that has no CAs', () => [hello(), keys, ready()], 'it is ready without keys or CAs'],
    ['whose keys are not valid', () => [hello(), noKeys], 'there is no key that can be used'],
    ['whose CAs are not valid', () => [hello(), noCas], 'the CAs cannot be read'],
    [
      'whose CAs are no CAs',
      () => [hello(), { type: 'cas', cas: pki.server.pem }],
      'the CAs cannot be read',
    ],
    [
      'of news alone, where everything was asked for',
      () => [hello({ isSnapshot: false })],
      'only changes were sent, but everything was requested',
    ],
  ]
  for (const [what, lines, complaint] of cases) {
    test(what, () => {
      const { copy, feed } = startCopy()
      assert.throws(
        () => feed(...lines()),
        (error) => error instanceof FeedFault && error.message === complaint,
      )
      assert.equal(copy.known(), undefined)
    })
  }

  test('of news, after its cursor was given up', () => {
    const { copy, feed } = startCopy()
    feed(hello(), keys, cas, ready())
    copy.forgetCursor()
    assert.equal(copy.cursor(), undefined)
    assert.throws(() => feed(hello({ isSnapshot: false })), FeedFault)
  })

  test('and a line of another kind is not', () => {
    const { copy, feed } = startCopy()
    feed(hello(), { type: 'other' }, keys, cas, ready())
    assert.notEqual(copy.known(), undefined)
  })
})

test('D-385: a feed whose heartbeats arrive later and later is refused; clocks that differ are not', () => {
  // Attack: a heartbeat every three seconds is never silence, and one sent each second would leave this router behind.
  const { clock, copy, feed } = startCopy()
  const beat = (sentAt: number): FeedLine => ({
    type: 'heartbeat',
    cursor: 'c1',
    at: plus(NOON, seconds(sentAt - 3_600)),
  })
  const reception = feed(hello(), keys, cas, ready(), beat(0))
  for (let sent = 1; sent <= 5; sent++) {
    clock.pass(seconds(3))
    reception.take(beat(sent))
  }
  clock.pass(seconds(3))
  assert.throws(() => reception.take(beat(6)), /delayed/)
  assert.ok(!copy.isCutOff())
  clock.pass(seconds(30))
  assert.ok(copy.isCutOff())
  feed(hello(), keys, cas, ready(), beat(50))
  assert.ok(!copy.isCutOff())
})

test('D-381: a mark counts when everything before it was applied, and not before the feed is ready', () => {
  const marks: string[] = []
  const order: string[] = []
  const copy = createFeedCopy({
    clock: new ManualClock(),
    onEnded: (subject) => order.push(subject),
    onMark: (mark) => {
      marks.push(mark)
      order.push(mark)
    },
  })
  const reception = copy.receive()
  for (const line of [hello(), keys, cas, { type: 'mark', mark: 'early' } as const, ready()]) {
    reception.take(line)
  }
  assert.deepEqual(marks, [])
  reception.take(ended('s1'))
  reception.take({ type: 'mark', mark: 'm1' })
  assert.deepEqual(order, ['s1', 'm1'])
})
