/** The lock between processes: D-165. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { exclusively } from './exclusively.ts'

async function lockFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-lock-'))
  t.after(() => rm(folder, { recursive: true }))
  return join(folder, 'a.lock')
}

/** Another process that has the lock, and keeps it. */
async function holder(t: TestContext, file: string) {
  const script = `
    const { exclusively } = await import(${JSON.stringify(new URL('./exclusively.ts', import.meta.url).href)})
    await exclusively(${JSON.stringify(file)}, () => new Promise((resolve) => {
      console.log('held')
      setTimeout(resolve, 60_000)
    }))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

test('one at a time, in one process too, and what it answers comes out', async (t) => {
  const file = await lockFile(t)
  let inside = 0
  let most = 0
  const work = async (answer: number) => {
    inside += 1
    most = Math.max(most, inside)
    await setTimeout(5)
    inside -= 1
    return answer
  }
  const answers = await Promise.all([1, 2, 3, 4].map((n) => exclusively(file, () => work(n))))
  assert.deepEqual(answers, [1, 2, 3, 4])
  assert.equal(most, 1)
})

test('R063: only the owner may access the lock file, even if an older version created it', async (t) => {
  const file = await lockFile(t)
  const modeInside = () => exclusively(file, async () => (await stat(file)).mode & 0o777)
  assert.equal(await modeInside(), 0o600)
  await chmod(file, 0o644)
  assert.equal(await modeInside(), 0o600)
})

test('a failure releases it', async (t) => {
  const file = await lockFile(t)
  await assert.rejects(
    exclusively(file, async () => {
      throw new Error('of the work')
    }),
    /of the work/,
  )
  assert.equal(await exclusively(file, async () => 'free'), 'free')
})

test('another process waits, and gets it as soon as the holder is killed', async (t) => {
  const file = await lockFile(t)
  const child = await holder(t, file)
  let isIn = false
  const waiting = exclusively(file, async () => {
    isIn = true
  })
  await setTimeout(300)
  assert.equal(isIn, false)
  child.kill('SIGKILL')
  await waiting
  assert.equal(isIn, true)
})
