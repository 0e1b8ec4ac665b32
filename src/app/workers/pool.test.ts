import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { systemClock } from '../../base/time/clock.ts'
import { seconds } from '../../base/time/duration.ts'
import { createPool, type PoolOptions, restartPause } from './pool.ts'

test('D-292: the first replacement starts at once, later ones wait twice as long each time, up to 30 seconds', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 9, 10, 11, 100, 2_000].map(restartPause),
    [0, 100, 200, 400, 12_800, 25_600, 30_000, 30_000, 30_000],
  )
})

/** Workers run this program instead of Node: it starts at once, and is missing until `install`. */
async function standIn(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-pool-'))
  const program = join(folder, 'worker')
  const node = process.execPath
  process.execPath = program
  t.after(async () => {
    process.execPath = node
    await rm(folder, { recursive: true })
  })
  const text = `#!${node}
process.on('message', ({ ask, id }) => {
  process.send({ id, answer: [] }, () => ask === 'stop' && process.exit())
})
`
  return {
    install: () => writeFile(program, text, { mode: 0o700 }),
    remove: () => rm(program),
  }
}

const pids: number[] = []
const OPTIONS: PoolOptions = {
  workers: 1,
  attend: () => ({ handlers: {} as never, end() {} }),
  startOrder: async () => ({}) as never,
  onRunning: () => () => {},
  onStopped() {},
  clock: systemClock,
  log: {
    info: (about) => void pids.push((about as { pid: number }).pid),
    error() {},
  },
}

test('a start fails if the system does not create the process of a worker', async (t) => {
  await standIn(t)
  await assert.rejects(createPool(OPTIONS).start(), {
    name: 'RefusedStart',
    message: /^a worker process cannot be created: spawn .* ENOENT$/,
  })
})

test('D-292: a worker whose process the system does not create is tried again', async (t) => {
  const { install, remove } = await standIn(t)
  await install()
  const pool = createPool(OPTIONS)
  await pool.start()
  t.after(() => pool.stop(seconds(5)))
  await remove()
  process.kill(pids.at(-1) ?? 0, 'SIGKILL')
  await eventually(() => pool.restarts() >= 3 || undefined, 'the third attempt')
  assert.deepEqual(pool.running(), [])
  await install()
  await eventually(() => pool.running()[0], 'a worker')
})
