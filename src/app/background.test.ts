import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { milliseconds } from '../base/time/duration.ts'
import { runInBackground, untilBeat } from './background.ts'
import { createLog } from './logging.ts'

// biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
function logged(): { log: ReturnType<typeof createLog>; lines: any[] } {
  // biome-ignore lint/suspicious/noExplicitAny: log lines have any fields
  const lines: any[] = []
  const write = (line: string) => lines.push(JSON.parse(line))
  return { lines, log: createLog({ level: 'info', format: 'json' }, { write }) }
}

/** Lets what was promised happen, without any time passing. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

let uptime = 0

/** From now on, timers fire and the clock of the beats moves with `tick` alone. */
function stopTime(t: TestContext): void {
  uptime = 0
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(performance, 'now', () => uptime)
}

async function tick(t: TestContext, by: number): Promise<void> {
  uptime += by
  t.mock.timers.tick(by)
  await settle()
}

test('a round begins when the last one has ended and its time has passed, never two at once', async (t) => {
  stopTime(t)
  let begun = 0
  let end = () => {}
  const round = () => {
    begun += 1
    return new Promise<void>((resolve) => {
      end = resolve
    })
  }
  const background = runInBackground(
    [{ name: 'work', every: milliseconds(100), round }],
    logged().log,
  )
  assert.equal(begun, 0)
  await tick(t, 100)
  assert.equal(begun, 1)
  await tick(t, 1_000)
  assert.equal(begun, 1)
  end()
  await settle()
  await tick(t, 99)
  assert.equal(begun, 1)
  await tick(t, 1)
  assert.equal(begun, 2)
  end()
  await background.stop()
})

test('trouble is logged when it begins and when it ends, and the work goes on', async (t) => {
  stopTime(t)
  const { log, lines } = logged()
  const outcomes = [true, false, false, false, true, true, false]
  const round = async () => {
    if (outcomes.shift() === false) throw new Error('the disk is full')
  }
  const background = runInBackground([{ name: 'sweep', every: milliseconds(10), round }], log)
  while (outcomes.length > 0) await tick(t, 10)
  await background.stop()
  assert.deepEqual(
    lines.map(({ msg, work, err }) => [msg, work, err?.message]),
    [
      ['background work failed; retrying', 'sweep', 'the disk is full'],
      ['background work succeeds again', 'sweep', undefined],
      ['background work failed; retrying', 'sweep', 'the disk is full'],
    ],
  )
})

test('stopping waits for the round under way, and none begins after it', async (t) => {
  stopTime(t)
  const events: string[] = []
  let end = () => {}
  const round = async () => {
    events.push('begun')
    await new Promise<void>((resolve) => {
      end = resolve
    })
    events.push('ended')
  }
  const background = runInBackground(
    [{ name: 'work', every: milliseconds(10), round }],
    logged().log,
  )
  await tick(t, 10)
  const stopped = background.stop().then(() => events.push('stopped'))
  await settle()
  assert.deepEqual(events, ['begun'])
  end()
  await stopped
  await tick(t, 100)
  assert.deepEqual(events, ['begun', 'ended', 'stopped'])
})

test('D-298: work that follows changes runs when it is told of one, once for a burst', async (t) => {
  stopTime(t)
  const rounds = { following: 0, other: 0 }
  let tell = () => {}
  const changes = {
    isPushed: () => true,
    follow(listener: () => void) {
      tell = listener
    },
  }
  const work = (name: keyof typeof rounds) => ({
    name,
    every: milliseconds(60_000),
    round: async () => {
      rounds[name] += 1
    },
  })
  const works = [{ ...work('following'), follows: true as const }, work('other')]
  const background = runInBackground(works, logged().log, changes)
  for (let i = 0; i < 10; i++) tell()
  await tick(t, 50)
  assert.deepEqual(rounds, { following: 1, other: 0 })
  // Even while notices arrive, a copy is compared every second.
  await tick(t, 1_000)
  assert.deepEqual(rounds, { following: 2, other: 0 })
  await background.stop()
})

test('D-298: a change that is told during a round is followed by another round', async (t) => {
  stopTime(t)
  let begun = 0
  let end = () => {}
  let tell = () => {}
  const changes = {
    isPushed: () => true,
    follow(listener: () => void) {
      tell = listener
    },
  }
  const round = () => {
    begun += 1
    return new Promise<void>((resolve) => {
      end = resolve
    })
  }
  const works = [{ name: 'work', every: milliseconds(60_000), round, follows: true as const }]
  const background = runInBackground(works, logged().log, changes)
  tell()
  await tick(t, 50)
  tell()
  end()
  await settle()
  await tick(t, 50)
  assert.equal(begun, 2)
  end()
  await background.stop()
})

// A busy service ends sessions faster than rounds start. If every notice put the round off, copies would become stale,
// and every call would be refused (D-34).
test('D-298: notices that keep arriving do not put the round off', async (t) => {
  stopTime(t)
  let rounds = 0
  let tell = () => {}
  const changes = {
    isPushed: () => true,
    follow(listener: () => void) {
      tell = listener
    },
  }
  const round = async () => {
    rounds += 1
  }
  const works = [{ name: 'work', every: milliseconds(60_000), round, follows: true as const }]
  const background = runInBackground(works, logged().log, changes)
  for (let i = 0; i < 25; i++) {
    tell()
    await tick(t, 40)
  }
  assert.ok(rounds >= 10, `${rounds} rounds in a second`)
  await background.stop()
})

test('work that sleeps is woken, no more often than it may run', async (t) => {
  stopTime(t)
  let rounds = 0
  let wake = () => {}
  const background = runInBackground(
    [
      {
        name: 'work',
        every: milliseconds(60_000),
        soonAfter: milliseconds(250),
        wokenBy: (soon) => {
          wake = soon
        },
        round: async () => {
          rounds += 1
        },
      },
    ],
    logged().log,
  )
  await tick(t, 1_000)
  assert.equal(rounds, 0)
  for (let i = 0; i < 10; i++) {
    wake()
    await tick(t, 100)
  }
  assert.equal(rounds, 3)
  await background.stop()
})

test('a timer that fires a moment early waits for the next beat', () => {
  const interval = milliseconds(400)
  assert.equal(untilBeat(interval, 1_200), 400)
  assert.equal(untilBeat(interval, 1_200.3), 400)
  assert.equal(untilBeat(interval, 1_250), 350)
  assert.equal(untilBeat(interval, 1_599.4), 401)
})

test('D-306: work that follows confirms its copy while nothing was committed, and asks once for all', async (t) => {
  stopTime(t)
  const seen: string[] = []
  let version = 1
  let asked = 0
  const changes = {
    isPushed: () => true,
    follow() {},
    version() {
      asked += 1
      return version
    },
  }
  const work = (name: string) => ({
    name,
    every: milliseconds(60_000),
    follows: true as const,
    round: async () => {
      seen.push(`${name} read`)
    },
    confirm: (age: number) => seen.push(`${name} ${age < 1_000 ? 'confirmed' : 'too old'}`),
  })
  const background = runInBackground([work('a'), work('b')], logged().log, changes)
  async function beat(): Promise<readonly string[]> {
    await tick(t, 1_000)
    return seen.splice(0).sort()
  }
  assert.deepEqual(await beat(), ['a read', 'b read'])
  assert.deepEqual(await beat(), ['a confirmed', 'b confirmed'])
  assert.equal(asked, 2)
  version = 2
  assert.deepEqual(await beat(), ['a read', 'b read'])
  await background.stop()
})

test('D-306: after a failure the copy is read, even if nothing was committed', async (t) => {
  stopTime(t)
  const seen: string[] = []
  let isBroken = false
  let tell = () => {}
  const changes = {
    isPushed: () => true,
    follow(listener: () => void) {
      tell = listener
    },
    version: () => {
      if (isBroken) throw new Error('the disk is gone')
      return 1
    },
  }
  const work = {
    name: 'work',
    every: milliseconds(60_000),
    follows: true as const,
    round: async () => {
      seen.push('read')
    },
    confirm: () => seen.push('confirmed'),
  }
  const { log, lines } = logged()
  const background = runInBackground([work], log, changes)
  for (const broken of [false, true, false]) {
    isBroken = broken
    tell()
    await tick(t, 50)
  }
  assert.deepEqual(seen, ['read', 'read'])
  assert.equal(lines.length, 2)
  await background.stop()
})
