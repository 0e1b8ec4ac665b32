/** The sessions of browsers in memory: bounds, refreshes and ends. D-412. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { systemRandom } from '../../base/secrets/random.ts'
import { instant } from '../../base/time/instant.ts'
import { ServerUnavailable, SessionEnded } from '../../client/client.ts'
import type { Accepted, Refused, Watch } from '../../router/router.ts'
import { type BrowserSession, createBrowserSessions, MOST_OF_ONE_IDENTITY } from './sessions.ts'

const ORIGIN = 'https://app.example'

function setUp(given: { readonly most?: number } = {}) {
  const watchers = new Map<string, Parameters<Watch>[1]>()
  const verdicts: (Accepted | Refused)[] = []
  const loggedOut: string[] = []
  const accepted: Accepted = {
    verdict: 'accepted',
    sessionId: 's',
    identityId: 'i',
    expiresAt: instant(0),
    subjects: ['s'],
  }
  const sessions = createBrowserSessions({
    router: {
      checkHeldToken: async () => verdicts.shift() ?? accepted,
      watch({ subjects }, onEnd) {
        watchers.set(subjects[0] ?? '', onEnd)
        return () => watchers.delete(subjects[0] ?? '')
      },
    },
    random: systemRandom,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ...given,
  })
  const newSession = (
    id: string,
    identityId = 'i',
    changes: Partial<BrowserSession['session']> = {},
  ): BrowserSession => ({
    origin: ORIGIN,
    begunAt: instant(0),
    stepUp: {},
    session: {
      id,
      identityId,
      accessToken: async () => 'token',
      refresh: async () => undefined,
      logout: async () => void loggedOut.push(id),
      claims: () => ({ iss: 'i', sub: identityId, sid: id, exp: 0, iat: 0 }),
      ...changes,
    },
  })
  return { sessions, newSession, watchers, verdicts, loggedOut }
}

const reasonOf = (verdict: Accepted | Refused) =>
  verdict.verdict === 'refused' ? verdict.reason : verdict.verdict

test('a user with many browsers displaces sessions of their own alone', () => {
  const { sessions, newSession, loggedOut } = setUp()
  const other = sessions.begin(newSession('other', 'bob'))
  const first = sessions.begin(newSession('s0'))
  for (let i = 1; i <= MOST_OF_ONE_IDENTITY; i += 1) sessions.begin(newSession(`s${i}`))
  assert.equal(sessions.find(first, ORIGIN), undefined)
  assert.notEqual(sessions.find(other, ORIGIN), undefined)
  assert.deepEqual(loggedOut, ['s0'])
  assert.equal(sessions.size(), MOST_OF_ONE_IDENTITY + 1)
})

test('at the limit of all, the session that was not used for the longest time ends', () => {
  const { sessions, newSession, loggedOut } = setUp({ most: 2 })
  const [one, two] = [sessions.begin(newSession('1', 'a')), sessions.begin(newSession('2', 'b'))]
  assert.notEqual(sessions.find(one, ORIGIN), undefined)
  sessions.begin(newSession('3', 'c'))
  assert.equal(sessions.find(two, ORIGIN), undefined)
  assert.notEqual(sessions.find(one, ORIGIN), undefined)
  assert.deepEqual(loggedOut, ['2'])
})

test('an end in the feed closes what is held; a cut does not end the session', async () => {
  const { sessions, newSession, watchers } = setUp()
  const session = newSession('s')
  const cookie = sessions.begin(session)
  let closed = 0
  sessions.hold(session, () => {
    closed += 1
  })
  watchers.get('s')?.('cut-off')
  assert.notEqual(sessions.find(cookie, ORIGIN), undefined)
  assert.equal(reasonOf(await sessions.check(session)), 'accepted')
  watchers.get('s')?.('ended')
  assert.equal(closed, 1)
  assert.equal(sessions.find(cookie, ORIGIN), undefined)
  assert.equal(reasonOf(await sessions.check(session)), 'session-ended')
  // Whatever is held later is closed at once.
  sessions.hold(session, () => {
    closed += 1
  })
  assert.equal(closed, 2)
})

// D-153.
test('a token that is not valid any more is refreshed once', async () => {
  const { sessions, newSession, verdicts } = setUp()
  let refreshes = 0
  const session = newSession('s', 'i', {
    refresh: async () => {
      refreshes += 1
    },
  })
  sessions.begin(session)
  verdicts.push({ verdict: 'refused', reason: 'token-invalid' })
  assert.equal(reasonOf(await sessions.check(session)), 'accepted')
  const invalid: Refused = { verdict: 'refused', reason: 'token-invalid' }
  verdicts.push(invalid, invalid)
  assert.equal(reasonOf(await sessions.check(session)), 'token-invalid')
  assert.equal(refreshes, 2)
})

test('while the controller is away a session is unavailable, and after its end it is gone', async () => {
  const { sessions, newSession } = setUp()
  let fault: Error = new ServerUnavailable('NO_ANSWER', 'away', { mayHaveHappened: false })
  const session = newSession('s', 'i', { accessToken: () => Promise.reject(fault) })
  const cookie = sessions.begin(session)
  assert.equal(reasonOf(await sessions.check(session)), 'controller-unreachable')
  sessions.hold(session, () => undefined)
  await sessions.refreshHeld()
  assert.notEqual(sessions.find(cookie, ORIGIN), undefined)
  fault = new SessionEnded('invalid_grant', 'over', { status: 400 })
  await sessions.refreshHeld()
  assert.equal(sessions.find(cookie, ORIGIN), undefined)
})

test('a session that is signed out while it is checked does not pass', async () => {
  const { sessions, newSession } = setUp()
  const session = newSession('s', 'i', {
    accessToken: async () => {
      sessions.forget(session)
      return 'token'
    },
  })
  sessions.begin(session)
  assert.equal(reasonOf(await sessions.check(session)), 'session-ended')
})

test('only sessions with something open are refreshed by themselves', async () => {
  const { sessions, newSession } = setUp()
  const asked: string[] = []
  const track = (id: string) =>
    newSession(id, 'i', {
      accessToken: async () => {
        asked.push(id)
        return 'token'
      },
    })
  const [open, idle] = [track('open'), track('idle')]
  sessions.begin(open)
  sessions.begin(idle)
  const release = sessions.hold(open, () => undefined)
  await sessions.refreshHeld()
  release()
  await sessions.refreshHeld()
  assert.deepEqual(asked, ['open'])
})

test('D-412: after an outage, all held sessions are refreshed, eight at a time', async () => {
  const { sessions, newSession } = setUp()
  let isDown = true
  let asked = 0
  let pending = 0
  let highest = 0
  for (let i = 0; i < 100; i += 1) {
    const accessToken = async () => {
      asked += 1
      pending += 1
      highest = Math.max(highest, pending)
      await setImmediate()
      pending -= 1
      if (isDown)
        throw new ServerUnavailable('NO_ANSWER', 'no connection', { mayHaveHappened: false })
      return 'token'
    }
    const session = newSession(`s${i}`, `i${i}`, { accessToken })
    sessions.begin(session)
    sessions.hold(session, () => undefined)
  }
  // A call while a round is under way joins it. The round ends early, because the controller cannot be reached.
  await Promise.all([sessions.refreshHeld(), sessions.refreshHeld()])
  assert.deepEqual([asked, highest], [8, 8])
  isDown = false
  asked = 0
  await sessions.refreshHeld()
  assert.deepEqual([asked, highest], [100, 8])
})

test('D-412: sessions that the controller can never refresh keep no other one from it', async () => {
  const { sessions, newSession } = setUp()
  const asked: string[] = []
  for (let i = 0; i < 9; i += 1) {
    const id = i < 8 ? 'broken' : 'well'
    const accessToken = async () => {
      asked.push(id)
      if (id === 'well') return 'token'
      throw new ServerUnavailable('SERVER_ERROR', 'of this session', { mayHaveHappened: true })
    }
    const session = newSession(`s${i}`, `i${i}`, { accessToken })
    sessions.begin(session)
    sessions.hold(session, () => undefined)
  }
  await sessions.refreshHeld()
  await sessions.refreshHeld()
  assert.ok(asked.includes('well'))
})
