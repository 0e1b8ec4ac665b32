import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { createProgress } from './test-progress.mjs'
import { longestSilence, runLanes } from './test-shard.mjs'

const PASSES = "import { test } from 'node:test'\ntest('is fine', () => {})\n"
const FAILS = `import { test } from 'node:test'
test('is wrong', () => { throw new Error('the reason') })
`
/** Passes when it runs the second time, as a test does that only the load disturbs. */
const FAILS_ONCE = `import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
test('depends on the load', () => {
  const mark = new URL('./mark', import.meta.url)
  const isSecond = existsSync(mark)
  writeFileSync(mark, '')
  if (!isSecond) throw new Error('too slow')
})
`
/** Its test passes, but something that it left open keeps its process alive. */
const LEAVES_OPEN = `import { test } from 'node:test'
import { createServer } from 'node:http'
test('is fine', () => { createServer().listen(0) })
`
/** Something fails before it is closed. */
const FAILS_AND_LEAVES_OPEN = `${LEAVES_OPEN}
test('is wrong', () => { throw new Error('the reason') })
`
/** Its test waits for what never comes. */
const HANGS = `import { test } from 'node:test'
test('waits', () => new Promise(() => setInterval(() => {}, 1_000)))
`
/** Its test passes, although something that it began throws meanwhile. */
const THROWS_ELSEWHERE = `import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
test('lasts', async () => {
  await wait(1)
  setTimeout(() => { throw new Error('nothing catches it') }, 1)
  await wait(100)
})
`
const DIES =
  "import { test } from 'node:test'\ntest('dies', () => process.kill(process.pid, 'SIGKILL'))\n"

test('repeats every failure at the very end, after the slowest files, and fails', async (t) => {
  const run = await runAll(t, { 'a.test.mjs': PASSES, 'b.test.mjs': FAILS })
  assert.equal(run.isGood, false)
  assert.match(run.end, /Failed:\n\n✖ is wrong\n {2}\S*b\.test\.mjs:2\n {4}Error: the reason\n/)
  assert.match(run.end, /Failed beside others, failed alone too\./)
  assert.match(run.end, /1 passed, 1 failed, 0 skipped\n$/)
})

test('lists a file that passes alone as unsteady, with its first failure, and does not fail', async (t) => {
  const run = await runAll(t, { 'a.test.mjs': FAILS_ONCE, 'b.test.mjs': PASSES })
  assert.equal(run.isGood, true)
  assert.match(run.end, /Unsteady \(failed beside others, passed alone/)
  assert.match(run.end, /✖ depends on the load\n {2}\S*a\.test\.mjs:3\n {4}Error: too slow\n/)
  assert.match(run.end, /1 passed, 0 failed, 1 unsteady, 0 skipped\n$/)
})

test('goes on with the other files when the process dies, and says in which file it died', async (t) => {
  const run = await runAll(t, {
    'a.test.mjs': PASSES,
    'b.test.mjs': DIES,
    'c.test.mjs': PASSES,
    'd.test.mjs': PASSES,
  })
  assert.equal(run.isGood, false)
  assert.match(run.end, /✖ its process ended early\n.*b\.test\.mjs/)
  assert.match(run.end, /ended with SIGKILL/)
  assert.match(run.all, /unit {2}4 of 4 files/)
})

test('fails with an exception that nothing catches, and names its test when it runs alone', async (t) => {
  const texts = { 'a.test.mjs': PASSES, 'b.test.mjs': THROWS_ELSEWHERE, 'c.test.mjs': PASSES }
  const run = await runAll(t, texts)
  assert.equal(run.isGood, false)
  assert.match(run.end, /✖ an exception that nothing caught\n.*b\.test\.mjs/)
  assert.match(run.end, /Error: nothing catches it\n.*b\.test\.mjs:5/)
  assert.match(run.all, /✖ lasts\n {2}\S*b\.test\.mjs:3\n {4}Error: nothing catches it/)
})

test('fails with such an exception beside a test that only the load disturbs, too', async (t) => {
  const texts = { 'a.test.mjs': FAILS_ONCE, 'b.test.mjs': THROWS_ELSEWHERE }
  assert.equal((await runAll(t, texts)).isGood, false)
})

test('ends a process that reports nothing any more, and goes on', async (t) => {
  const run = await runAll(t, { 'a.test.mjs': PASSES, 'b.test.mjs': HANGS }, { silence: 3_000 })
  assert.equal(run.isGood, false)
  assert.match(run.end, /It reported nothing for 3 s\./)
  assert.match(run.all, /2 of 2 files/)
})

test('ends a process that something keeps alive after its last test', async (t) => {
  const texts = { 'a.test.mjs': PASSES, 'b.test.mjs': LEAVES_OPEN }
  const run = await runAll(t, texts, { linger: 1_000 })
  assert.equal(run.isGood, false)
  assert.match(run.end, /Its tests are over, but what one of them left open keeps it alive\./)
  assert.match(run.all, /2 of 2 files/)
})

test('does not count what a failed test left open as another failure', async (t) => {
  const texts = { 'a.test.mjs': PASSES, 'b.test.mjs': FAILS_AND_LEAVES_OPEN }
  const run = await runAll(t, texts, { linger: 1_000 })
  assert.doesNotMatch(run.all, /left open|ended early/)
  assert.match(run.end, /2 passed, 1 failed, 0 skipped\n$/)
})

test('waits longer for tests that repeat more often', () => {
  const minutes = (rounds) => longestSilence(rounds) / 60_000
  assert.deepEqual([1, 10, 25].map(minutes), [5, 23, 53])
})

test('does not run again when more files fail than the load explains', async (t) => {
  const run = await runAll(t, { 'a.test.mjs': FAILS, 'b.test.mjs': FAILS }, { repeated: 1 })
  assert.equal(run.isGood, false)
  assert.match(run.end, /Did not run again alone\./)
  assert.doesNotMatch(run.all, /Running again alone/)
})

/** Runs files of these texts in one lane. */
async function runAll(t, texts, { repeated = 10, silence, linger } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-runner-'))
  t.after(() => rm(folder, { recursive: true }))
  const files = Object.keys(texts).map((name) => relative(process.cwd(), join(folder, name)))
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text)
  let all = ''
  const output = { write: (text) => (all += text) }
  const progress = createProgress({ kinds: [{ kind: 'unit', files }], output })
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const times = { silence, linger }
  await runLanes([files], { atOnce: 1, repeated, ...times, extra: [], envOf: () => env, progress })
  const isGood = progress.close()
  return { isGood, all, end: all.slice(all.indexOf('Slowest files')) }
}
