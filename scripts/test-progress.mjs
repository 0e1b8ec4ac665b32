// Prints the progress of a test run: how far it is, every failure in full when it happens, and at the end the slowest
// files and the totals. On a terminal one line is rewritten; otherwise each finished file gets a line.
import { relative } from 'node:path'

const SLOWEST = 10

export function createProgress({ kinds, output = process.stdout }) {
  const total = kinds.reduce((sum, { files }) => sum + files.length, 0)
  const kindOf = new Map(kinds.flatMap(({ kind, files }) => files.map((file) => [file, kind])))
  const width = Math.max(...kinds.map(({ kind }) => kind.length))
  const spent = new Map()
  const counts = { pass: 0, fail: 0, skip: 0 }
  const started = performance.now()
  let finished = 0

  function print(text) {
    output.write(output.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`)
  }

  function showStatus(file) {
    const done = `${String(finished).padStart(String(total).length)} of ${total} files`
    const head = `${(kindOf.get(file) ?? '').padEnd(width)}  ${done}`
    if (!output.isTTY) {
      const seconds = ((spent.get(file) ?? 0) / 1000).toFixed(1)
      print(`${head}  ${seconds.padStart(5)} s  ${file}`)
      return
    }
    const tests = `${counts.pass + counts.skip} passed, ${counts.fail} failed`
    const line = `${head}  ${tests}  ${clock(performance.now() - started)}  ${file}`
    output.write(`\r\x1b[K${line.slice(0, (output.columns ?? 80) - 1)}`)
  }

  return {
    /** One outcome, as scripts/test-reporter.mjs sends it. */
    add(outcome) {
      const file = relative(process.cwd(), outcome.file ?? '')
      if (outcome.isTopLevel) spent.set(file, (spent.get(file) ?? 0) + outcome.milliseconds)
      if (outcome.isSuite || outcome.isConsequence) return
      counts[outcome.result] += 1
      if (outcome.result === 'fail') {
        print(`\n✖ ${outcome.name}\n  ${file}:${outcome.line ?? 1}\n${indent(outcome.error)}`)
        if (outcome.printed) print(`  It printed:\n${indent(outcome.printed)}`)
      }
    },
    /** Reports that a file is done: it has no further outcomes. */
    finish(file) {
      finished += 1
      showStatus(file)
    },
    /** Reports that a test process ended in a way that no outcome explains. */
    crash(text) {
      counts.fail += 1
      print(`\n✖ ${text}`)
    },
    /** Prints the summary; returns whether everything passed. */
    close() {
      const slowest = [...spent].sort(([, a], [, b]) => b - a).slice(0, SLOWEST)
      print('\nSlowest files:')
      for (const [file, milliseconds] of slowest) {
        print(`  ${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${file}`)
      }
      print(`\nTook ${clock(performance.now() - started)}.`)
      print(`${counts.pass} passed, ${counts.fail} failed, ${counts.skip} skipped`)
      return counts.fail === 0 && counts.pass > 0
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
