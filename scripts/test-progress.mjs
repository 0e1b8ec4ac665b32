// Prints the progress of a test run: how far it is, every failure in full when it happens, and at the end the slowest
// files, what is unsteady, every failure again in brief, and the totals. On a terminal one line is rewritten; otherwise
// each finished file gets a line.
import { relative } from 'node:path'
import { judge, summarize } from './test-summary.mjs'

const SLOWEST = 10

export function createProgress({ kinds, output = process.stdout }) {
  const total = kinds.reduce((sum, { files }) => sum + files.length, 0)
  const kindOf = new Map(kinds.flatMap(({ kind, files }) => files.map((file) => [file, kind])))
  const width = Math.max(...kinds.map(({ kind }) => kind.length))
  const spent = new Map()
  const counts = { pass: 0, fail: 0, skip: 0 }
  const failures = []
  /** The files that ran once more alone, each with its failures then. */
  const repeats = new Map()
  const started = performance.now()
  let finished = 0

  function print(text) {
    output.write(output.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`)
  }

  function showStatus(file) {
    const done = `${String(finished).padStart(String(total).length)} of ${total} files`
    const head = `${(kindOf.get(file) ?? '').padEnd(width)}  ${done}`
    if (!output.isTTY) {
      const seconds = ((spent.get(file)?.milliseconds ?? 0) / 1000).toFixed(1)
      print(`${head}  ${seconds.padStart(5)} s  ${file}`)
      return
    }
    const tests = `${counts.pass + counts.skip} passed, ${counts.fail} failed`
    const line = `${head}  ${tests}  ${clock(performance.now() - started)}  ${file}`
    output.write(`\r\x1b[K${line.slice(0, (output.columns ?? 80) - 1)}`)
  }

  function fail(failure) {
    const [only] = failure.suspects
    if (repeats.has(only)) {
      repeats.get(only).push(failure)
      return
    }
    counts.fail += 1
    failures.push(failure)
  }

  return {
    /** One outcome, as scripts/test-reporter.mjs sends it. Suspects: the files that it can belong to. */
    add(outcome, suspects) {
      const file = relative(process.cwd(), outcome.file ?? '')
      const isRepeat = repeats.has(suspects[0])
      if (outcome.isTopLevel && !isRepeat) {
        const sum = spent.get(file) ?? { milliseconds: 0, cpuSeconds: 0 }
        sum.milliseconds += outcome.milliseconds
        sum.cpuSeconds += outcome.cpuSeconds
        spent.set(file, sum)
      }
      if (outcome.isSuite || outcome.isConsequence) return
      if (outcome.result !== 'fail') {
        if (!isRepeat) counts[outcome.result] += 1
        return
      }
      const place = `${file}:${outcome.line ?? 1}`
      print(`\n✖ ${outcome.name}\n  ${place}\n${indent(outcome.error)}`)
      if (outcome.printed) print(`  It printed:\n${indent(outcome.printed)}`)
      fail({ suspects, place, title: outcome.name, text: outcome.error })
    },
    /** Reports that a file is done: it has no further outcomes. */
    finish(file) {
      if (repeats.has(file)) return
      finished += 1
      showStatus(file)
    },
    /** Reports that a test process ended in a way that no outcome explains. */
    crash(suspects, text, title = 'its process ended early') {
      print(`\n✖ ${suspects.join('\n  ')}\n${indent(text)}`)
      fail({ suspects, place: suspects.join(', '), title, text })
    },
    /** Reports what the run as a whole did not do. */
    fail(text) {
      fail({ suspects: ['scripts/test.mjs'], place: 'scripts/test.mjs', title: 'the run', text })
    },
    /** The files in which something failed. */
    failedFiles() {
      return [...new Set(failures.flatMap(({ suspects }) => suspects))]
    },
    /** Reports that a file runs again alone: from now on its outcomes are those of the second run. */
    repeat(file) {
      print(`\nRunning again alone: ${file}`)
      repeats.set(file, [])
    },
    /** Prints the summary; returns whether everything passed, at least alone. */
    close() {
      const slowest = [...spent].sort(([, a], [, b]) => b.milliseconds - a.milliseconds)
      print('\nSlowest files (and the CPU time of their processes):')
      for (const [file, { milliseconds, cpuSeconds }] of slowest.slice(0, SLOWEST)) {
        const seconds = (milliseconds / 1000).toFixed(1).padStart(6)
        print(`  ${seconds} s ${cpuSeconds.toFixed(1).padStart(6)} s  ${file}`)
      }
      const verdict = judge(failures, repeats)
      for (const line of summarize(verdict)) print(line)
      const { failed, unsteady } = verdict
      print(`\nTook ${clock(performance.now() - started)}.`)
      const steadiness = unsteady.length === 0 ? '' : `, ${unsteady.length} unsteady`
      print(`${counts.pass} passed, ${failed.length} failed${steadiness}, ${counts.skip} skipped`)
      return failed.length === 0 && counts.pass > 0
    },
  }
}

function clock(milliseconds) {
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function indent(text) {
  return text.replaceAll(/^/gm, '    ')
}
