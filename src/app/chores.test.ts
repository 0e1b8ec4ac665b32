/** How often the work that repeats wakes an idle process, and what it reads then. Time is simulated. D-298, D-364. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fakePorts } from '../../test/support/fake-ports.ts'
import { type Duration, milliseconds, seconds } from '../base/time/duration.ts'
import { type Instant, instant, plus } from '../base/time/instant.ts'
import { runInBackground } from './background.ts'
import { chores } from './chores.ts'
import type { Core } from './core.ts'

const STEP = milliseconds(10)
const NOON = instant(1_800_000_000_000)
const silent = () => {}
const LOG = { debug: silent, info: silent, warn: silent, error: () => assert.fail('no work fails') }

/** An instance whose database does not change, except when its only session expires. */
function world(
  t: TestContext,
  {
    isPushed,
    isProven = false,
    expiry,
  }: { readonly isPushed: boolean; readonly isProven?: boolean; readonly expiry?: Instant },
) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const counts = { wakes: 0, versions: 0, reads: 0, caLooks: 0 }
  let wokenAt = 0
  /** Everything that runs in one step was started by one wake-up of the process. */
  const wake = () => {
    if (wokenAt !== now) counts.wakes += 1
    wokenAt = now
  }
  const read = async () => {
    wake()
    counts.reads += 1
  }
  const past = () => plus(NOON, milliseconds(now))
  let endedAt: Instant | undefined
  const core = {
    config: { home: '/nowhere', audit: { retention: seconds(1) } },
    log: LOG,
    secretFingerprint: 'one',
    sealedHashingSecret: 'two',
    authorities: {
      caBundlePem: '',
      async refresh() {
        wake()
        counts.caLooks += 1
        return []
      },
    },
    clock: { now: past },
    clockWatch: { round: async () => wake(), removable: () => undefined },
    store: {
      aside: {
        installation: {
          async find() {
            await read()
            return { secretFingerprint: 'one', sealedHashingSecret: 'two' }
          },
        },
      },
    },
    ports: fakePorts<Record<string, unknown>>({
      signingKeys: {
        refresh: read,
        async rotateIfDue() {
          wake()
          return []
        },
      },
      endedSessions: { refresh: read, learn: wake },
      rules: { refresh: read, confirmUnchanged: wake },
      past,
      apiSessions: {
        async firstExpiry() {
          await read()
          return endedAt === undefined ? expiry : undefined
        },
      },
      async transaction() {
        endedAt = past()
        return 1
      },
    }),
  } as unknown as Core
  const works = chores(core, {
    onNewAuthorities: () => assert.fail('no CA changes'),
    renewCertificates: async () => wake(),
    onSecretReplaced: () => assert.fail('the secret is the same'),
    onDatabaseRestored: () => assert.fail('the database is the same'),
  })
  const changes = {
    isPushed: () => isPushed,
    isProven: () => isProven,
    follow: silent,
    version() {
      counts.versions += 1
      return 'one'
    },
  }
  const background = runInBackground(works, LOG, changes)
  t.after(() => background.stop())
  return {
    endedAt: () => endedAt,
    /** Returns what happened in this time. */
    async pass(time: Duration): Promise<typeof counts> {
      const before = { ...counts }
      for (const end = now + time; now < end; ) {
        now += STEP
        t.mock.timers.tick(STEP)
        await new Promise((resolve) => setImmediate(resolve))
      }
      const since = (name: keyof typeof counts) => counts[name] - before[name]
      return {
        wakes: since('wakes'),
        versions: since('versions'),
        reads: since('reads'),
        caLooks: since('caLooks'),
      }
    },
  }
}

test('D-364: while the database tells of changes, an idle process wakes up once a second and reads twice a minute', async (t) => {
  const { pass } = world(t, { isPushed: true })
  await pass(seconds(2))
  const { wakes, versions, reads, caLooks } = await pass(seconds(60))
  assert.ok(wakes <= 62, `${wakes} wake-ups`)
  assert.ok(versions <= 60, `${versions} questions`)
  // Whether a session expires (D-304).
  assert.equal(reads, 2)
  assert.ok(caLooks <= 6, `${caLooks} looks at our own CAs`)
})

test('D-364: after a first notice, it wakes up every two seconds', async (t) => {
  const { pass } = world(t, { isPushed: true, isProven: true })
  await pass(seconds(2))
  const { wakes, versions, reads } = await pass(seconds(60))
  assert.ok(wakes <= 32, `${wakes} wake-ups`)
  assert.ok(versions <= 30, `${versions} questions`)
  assert.equal(reads, 2)
})

test('D-298: otherwise it looks every 400 milliseconds, and reads no more than that', async (t) => {
  const { pass } = world(t, { isPushed: false })
  await pass(seconds(2))
  const { wakes, reads } = await pass(seconds(60))
  assert.ok(wakes >= 149 && wakes <= 152, `${wakes} wake-ups`)
  assert.equal(reads, 2)
})

// D-42: connections of a session are closed within a second after its end.
test('D-364: a session that expires between two beats ends on time', async (t) => {
  const expiry = plus(NOON, milliseconds(7_230))
  const { pass, endedAt } = world(t, { isPushed: true, expiry })
  await pass(seconds(9))
  const at = endedAt()
  assert.ok(at !== undefined && at >= expiry && at <= plus(expiry, STEP), `${at} for ${expiry}`)
})
