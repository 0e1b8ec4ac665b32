// Runs test files one after the other in one process of `node --test`, and tells the progress what happens there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const REPORTER = new URL('./test-reporter.mjs', import.meta.url).href
/** Test processes do not follow promises (D-334). */
const PRELOAD = fileURLToPath(new URL('./test-preload.cjs', import.meta.url))
/** How much of the output of a shard is shown when it dies. */
const LAST_WORDS = 20_000
/** If more files fail, the change is broken rather than a test unsteady, and nothing is run again (D-258). */
const REPEATED_FILES = 10
/** A process that reports nothing for so long hangs: a test waits for what never comes. */
const SILENCE_MILLISECONDS = 5 * 60_000
/** A process that is still there so long after its last test has something open that nobody closes. */
const LINGER_MILLISECONDS = 60_000
/** A test reports when its last round is over, so each further round may take this long. */
const ROUND_MILLISECONDS = 2 * 60_000

const running = new Set()
process.once('exit', () => {
  for (const tests of running) tests.kill()
})

/** Returns how long a process may report nothing if its tests repeat what chance decides this often. */
export function longestSilence(rounds) {
  return SILENCE_MILLISECONDS + (rounds - 1) * ROUND_MILLISECONDS
}

/**
 * Runs the files of each lane in a process, some of these at once. A file in which something failed then runs once more,
 * alone, which tells a wrong test from one that the load disturbs.
 */
export async function runLanes(lanes, { atOnce, repeated = REPEATED_FILES, ...options }) {
  const waiting = [...lanes]
  async function work() {
    for (let lane = waiting.shift(); lane !== undefined; lane = waiting.shift()) {
      const left = await runShard(lane, options)
      if (left.length > 0) waiting.unshift(left)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))

  const { progress } = options
  const failed = progress.failedFiles()
  if (failed.length > repeated) return
  for (const file of failed) {
    progress.repeat(file)
    await runShard([file], { ...options, isAlone: true })
  }
}

/** Returns the files that the process did not come to, because it died before. */
async function runShard(files, options) {
  const { extra, envOf, progress, isAlone = false } = options
  const { silence = SILENCE_MILLISECONDS, linger = LINGER_MILLISECONDS } = options
  // A file that runs alone says which test an uncaught exception belongs to.
  const preload = isAlone ? [] : ['--expose-internals', '--require', PRELOAD]
  const runner = ['--test', '--test-isolation=none', `--test-reporter=${REPORTER}`]
  const tests = spawn(process.execPath, [...preload, ...runner, ...extra, ...files], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: envOf(files),
  })
  running.add(tests)
  let printed = ''
  function keep(text) {
    printed = `${printed}${text}`.slice(-LAST_WORDS)
  }
  for (const stream of [tests.stdout, tests.stderr]) stream.setEncoding('utf8').on('data', keep)

  let hanging = killAfter(silence, `It reported nothing for ${silence / 1_000} s.`)
  function killAfter(milliseconds, reason) {
    return setTimeout(() => {
      keep(`${reason}\n`)
      tests.kill('SIGKILL')
    }, milliseconds)
  }
  let begun = 0
  let hasFailure = false
  let isComplete = false

  /** A shard runs its files in order: the first outcome of a file means that the files before it are done. */
  function begin(file) {
    const index = files.indexOf(file, begun)
    if (index < 0) return
    for (const done of files.slice(Math.max(begun - 1, 0), index)) progress.finish(done)
    begun = index + 1
  }

  /** A test that a helper defines names the helper's file: it belongs to the current file or to the next. */
  function suspects(file) {
    return files.includes(file) ? [file] : files.slice(Math.max(begun - 1, 0), begun + 1)
  }

  tests.on('message', (message) => {
    hanging.refresh()
    if (message.isEnd) {
      isComplete = true
    } else if (message.isOver) {
      isComplete = true
      clearTimeout(hanging)
      hanging = killAfter(
        linger,
        'Its tests are over, but what one of them left open keeps it alive.',
      )
    } else if (message.warning !== undefined) {
      keep(`${message.warning}\n`)
    } else if (message.uncaught !== undefined) {
      // Run alone, without the preload, the file says which test it was.
      hasFailure = true
      progress.crash(suspects(undefined), message.uncaught, 'an exception that nothing caught')
    } else {
      const file = relative(process.cwd(), message.file ?? '')
      begin(file)
      hasFailure ||= message.result === 'fail'
      progress.add(message, suspects(file))
    }
  })
  const [status, signal] = await once(tests, 'close')
  running.delete(tests)
  clearTimeout(hanging)
  const end = `ended with ${signal ?? `status ${status}`}:\n${printed}`
  if (isComplete) {
    if (status !== 0 && !hasFailure) progress.crash(files, end)
    for (const file of files.slice(Math.max(begun - 1, 0))) progress.finish(file)
    return []
  }
  // It died in the file that had begun, or in the next one before its first outcome.
  const left = files.slice(Math.max(begun - 1, 0))
  const blamed = left.slice(0, 2)
  progress.crash(blamed, end)
  for (const file of blamed) progress.finish(file)
  return left.slice(2)
}
