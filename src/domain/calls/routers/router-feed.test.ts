/**
 * What a router is told, line by line: a whole picture or the rest of one, in an order that it can rely on. D-34, D-42.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../../test/support/fake-ports.ts'
import { aPolicy } from '../../../../test/support/people.ts'
import type { ApiSessionId } from '../../../base/ids.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../../base/secrets/vault.ts'
import { type Duration, milliseconds, minutes, seconds } from '../../../base/time/duration.ts'
import { plus } from '../../../base/time/instant.ts'
import type { Issuer } from '../../../protocol/oidc.ts'
import type { PolicyDemands } from '../../../protocol/policy-demands.ts'
import { demandsOf } from '../../policies/demands-of.ts'
import type { SessionEnding } from '../../sessions/api-session.ts'
import { createEndedSessions } from '../../sessions/ending/ended-sessions.ts'
import type { CallPorts } from '../ports.ts'
import { type FeedLine, openRouterFeed } from './router-feed.ts'

const FOLLOW = milliseconds(400)

function ending(id: string): SessionEnding {
  return { subject: id as ApiSessionId, at: NOON, keepUntil: plus(NOON, minutes(30)) }
}

/** What instances of one installation share. */
function installation() {
  return {
    committed: [] as (SessionEnding & { readonly sequence: number })[],
    vault: createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom),
  }
}

function instance(shared = installation()) {
  const clock = new ManualClock()
  let keys = [{ kid: 'key-1' }]
  let cas = 'the CAs'
  let areRulesStale = false
  let policies: readonly PolicyDemands[] = []
  const listeners = new Set<() => void>()
  const ended = createEndedSessions({
    clock,
    sessionEndings: {
      listAfter: async (after) => shared.committed.filter(({ sequence }) => sequence > after),
    },
  })
  const ports = fakePorts<CallPorts>({
    brand: 'service',
    trustDomain: 'latchkey',
    issuers: () => ['https://localhost:1280/oidc' as Issuer],
    caBundlePem: () => cas,
    signingKeys: { keySet: () => ({ keys }) },
    endedSessions: ended,
    rules: {
      isStale: () => areRulesStale,
      allDemands: () => policies,
      onChange(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    vault: shared.vault,
    clock,
  })
  return {
    ended,
    clock,
    commit: (sequence: number, id: string) => shared.committed.push({ ...ending(id), sequence }),
    rotate: (...kids: readonly string[]) => {
      keys = kids.map((kid) => ({ kid }))
    },
    replaceCas: (text: string) => {
      cas = text
    },
    changePolicies: (...changed: readonly PolicyDemands[]) => {
      policies = changed
      for (const listener of listeners) listener()
    },
    loseRules: () => {
      areRulesStale = true
    },
    async follow(time: Duration) {
      for (let passed = 0; passed < time; passed += FOLLOW) {
        clock.pass(FOLLOW)
        await ended.refresh()
      }
    },
    connect(since?: string) {
      const lines: FeedLine[] = []
      const feed = openRouterFeed(ports, since, (line) => lines.push(line))
      return { lines, feed, take: () => lines.splice(0) }
    },
  }
}

const typesOf = (lines: readonly FeedLine[]) => lines.map(({ type }) => type)
const subjectsOf = (lines: readonly FeedLine[]): readonly string[] =>
  lines.flatMap((line) => (line.type === 'ended' ? [line.subject] : [])).toSorted()
const helloOf = ([first]: readonly FeedLine[]) => {
  assert.equal(first?.type, 'hello')
  return first
}
function cursorOf(lines: readonly FeedLine[]): string {
  const last = lines.at(-1)
  assert.ok(last?.type === 'ready' || last?.type === 'heartbeat', String(last?.type))
  assert.ok(last.cursor.length <= 64)
  return last.cursor
}

test('D-42: a router without a cursor gets everything, and learns when that is complete', async () => {
  const here = instance()
  for (const n of [1, 2]) here.commit(n, `session-${n}`)
  await here.ended.refresh()
  here.ended.add(ending('ours'))
  const lines = here.connect().take()
  assert.deepEqual(typesOf(lines), ['hello', 'keys', 'cas', 'ended', 'ended', 'ended', 'ready'])
  assert.deepEqual(helloOf(lines), {
    type: 'hello',
    version: 1,
    brand: 'service',
    trustDomain: 'latchkey',
    issuers: ['https://localhost:1280/oidc'],
    heartbeatSeconds: 1,
    isSnapshot: true,
    epoch: cursorOf(lines).split('.')[0],
  })
  assert.deepEqual(lines[1], { type: 'keys', keys: [{ kid: 'key-1' }] })
  assert.deepEqual(lines[2], { type: 'cas', cas: 'the CAs' })
  assert.deepEqual(subjectsOf(lines), ['ours', 'session-1', 'session-2'])
  const line = lines.find((one) => one.type === 'ended')
  assert.deepEqual(Object.keys(line ?? {}), ['type', 'subject', 'keepUntil', 'keepFor'])
})

test('D-42: what ends is reported at once, until the feed is closed', async () => {
  const here = instance()
  await here.ended.refresh()
  const { feed, take } = here.connect()
  take()
  here.ended.add(ending('ours'))
  const { at, keepUntil } = ending('ours')
  const keepFor = milliseconds(keepUntil - at)
  assert.deepEqual(take(), [{ type: 'ended', subject: 'ours', keepUntil, keepFor }])
  feed.close()
  here.ended.add(ending('later'))
  assert.deepEqual(take(), [])
})

const DEMANDS = demandsOf(aPolicy(), [], [])

test('D-232: sends policies before ready, then each changed policy at once', async () => {
  const here = instance()
  await here.ended.refresh()
  here.changePolicies(DEMANDS, { ...DEMANDS, id: 'policy-2' })
  const { feed, take } = here.connect()
  assert.deepEqual(typesOf(take()), ['hello', 'keys', 'cas', 'policy', 'policy', 'ready'])
  const stricter = { ...DEMANDS, requireTotp: true }
  here.changePolicies(stricter, { ...DEMANDS, id: 'policy-2' })
  assert.deepEqual(take(), [{ type: 'policy', ...stricter }])
  here.changePolicies(stricter)
  assert.deepEqual(take(), [{ type: 'policy-removed', id: 'policy-2' }])
  feed.close()
  here.changePolicies(DEMANDS)
  assert.deepEqual(take(), [])
})

test('D-42: a heartbeat carries the time and a cursor; keys come before it when they have changed', async () => {
  const here = instance()
  await here.ended.refresh()
  const { feed, take } = here.connect()
  const cursor = cursorOf(take())
  feed.beat()
  assert.deepEqual(take(), [{ type: 'heartbeat', cursor, at: NOON }])
  here.rotate('key-1', 'key-2')
  feed.beat()
  const lines = take()
  assert.deepEqual(typesOf(lines), ['keys', 'heartbeat'])
  assert.deepEqual(lines[0], { type: 'keys', keys: [{ kid: 'key-1' }, { kid: 'key-2' }] })
  feed.beat()
  assert.deepEqual(typesOf(take()), ['heartbeat'])
})

test('D-129: CAs that have changed come before the next heartbeat, once', async () => {
  const here = instance()
  await here.ended.refresh()
  const { feed, take } = here.connect()
  take()
  here.replaceCas('the CAs and a successor')
  feed.beat()
  const lines = take()
  assert.deepEqual(typesOf(lines), ['cas', 'heartbeat'])
  assert.deepEqual(lines[0], { type: 'cas', cas: 'the CAs and a successor' })
  feed.beat()
  assert.deepEqual(typesOf(take()), ['heartbeat'])
})

test('D-34: an instance that may not know of an end keeps still', async () => {
  // A router that hears nothing refuses by itself after a while; one that is told that all is well does not.
  const here = instance()
  await here.ended.refresh()
  const { feed, take } = here.connect()
  take()
  here.clock.pass(seconds(6))
  feed.beat()
  assert.deepEqual(take(), [])
  await here.ended.refresh()
  feed.beat()
  assert.deepEqual(typesOf(take()), ['heartbeat'])
  here.loseRules()
  feed.beat()
  assert.deepEqual(take(), [])
})

test('D-42: a router that comes back with its cursor gets what is new and no more than that', async () => {
  const here = instance()
  for (const n of [1, 2, 3]) here.commit(n, `session-${n}`)
  await here.ended.refresh()
  await here.follow(minutes(2))
  const { feed, take } = here.connect()
  const cursor = cursorOf(take())
  feed.close()
  here.commit(4, 'while-away')
  await here.ended.refresh()
  const lines = here.connect(cursor).take()
  assert.equal(helloOf(lines).isSnapshot, false)
  assert.deepEqual(typesOf(lines), ['hello', 'keys', 'cas', 'ended', 'ready'])
  assert.deepEqual(subjectsOf(lines), ['while-away'])
})

test('D-42: it may come back to another instance of the installation', async () => {
  const shared = installation()
  const [here, there] = [instance(shared), instance(shared)]
  here.commit(1, 'before')
  await here.follow(minutes(2))
  await there.follow(minutes(2))
  const { feed, take } = here.connect()
  feed.beat()
  const cursor = cursorOf(take())
  here.commit(2, 'while-away')
  await there.ended.refresh()
  const lines = there.connect(cursor).take()
  assert.equal(helloOf(lines).isSnapshot, false)
  assert.deepEqual(subjectsOf(lines), ['while-away'])
})

test('D-34: what commits late reaches a router that moved to another instance meanwhile', async () => {
  // The number is taken, the router sees a higher one and a cursor, is cut off, and only then the lower one commits.
  const shared = installation()
  const [here, there] = [instance(shared), instance(shared)]
  await here.follow(minutes(2))
  await there.follow(minutes(2))
  const { feed, take } = here.connect()
  here.commit(2, 'fast')
  await here.follow(seconds(28))
  feed.beat()
  const cursor = cursorOf(take())
  here.commit(1, 'slow')
  await there.follow(seconds(1))
  assert.ok(subjectsOf(there.connect(cursor).take()).includes('slow'))
})

test('D-42: a cursor of before anything was read is good, and brings everything', async () => {
  const here = instance()
  const { take } = here.connect()
  const cursor = cursorOf(take())
  here.commit(1, 'theirs')
  await here.ended.refresh()
  assert.deepEqual(subjectsOf(here.connect(cursor).take()), ['theirs'])
})

test('D-42: an unknown, foreign or too new cursor brings a whole picture and never an error', async () => {
  const here = instance()
  here.commit(3, 'theirs')
  await here.follow(minutes(2))
  const cursor = cursorOf(here.connect().take())
  const [place = '', number = ''] = cursor.split('.')
  assert.equal(number, '3')
  const stranger = instance()
  stranger.commit(3, 'elsewhere')
  await stranger.follow(minutes(2))
  for (const since of [
    '',
    'x',
    '0',
    '3',
    `${place}.`,
    `${place}.-1`,
    `${place}.3x`,
    `${place}.1e1`,
    `${place}.9999999999999999`,
    `.${number}`,
    `${place}\n.3`,
    `${cursor}\n`,
    `${place}.4`,
    'é'.repeat(64),
    cursorOf(stranger.connect().take()),
  ]) {
    const lines = here.connect(since).take()
    assert.equal(helloOf(lines).isSnapshot, true, JSON.stringify(since))
    assert.deepEqual(subjectsOf(lines), ['theirs'])
  }
})

test('a cursor tells nothing but a number: neither secret nor address', async () => {
  const here = instance()
  await here.ended.refresh()
  assert.match(cursorOf(here.connect().take()), /^[\w-]{12}\.0$/)
})
