// A reporter for `node --test` that sends the outcome of every test to the parent process, over IPC. scripts/test.mjs
// runs several of these processes at once, and prints the outcomes.
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'

/** How much of a test's output is quoted with its failure. */
const QUOTED_CHARACTERS = 20_000

// biome-ignore lint/style/noDefaultExport: node --test takes the default export of a reporter
export default async function* reportToParent(events) {
  const printed = new Map()
  const cpu = cpuMeter()
  let waiting = 0
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') {
      printed.set(
        data.file,
        `${printed.get(data.file) ?? ''}${data.message}`.slice(-QUOTED_CHARACTERS),
      )
    } else if (type === 'test:pass' || type === 'test:fail') {
      const cpuSeconds = data.nesting === 0 ? cpu.sinceLast() : 0
      await send({ ...outcome(type, data, printed.get(data.file)), cpuSeconds })
      if (data.nesting === 0) waiting -= 1
      // All files are loaded before the first test begins, so no other test comes.
      if (waiting === 0) await send({ isOver: true })
    } else if (type === 'test:enqueue' && data.nesting === 0) {
      waiting += 1
    } else if (type === 'test:start' && data.nesting === 0) {
      cpu.begin()
    } else if (type === 'test:diagnostic' && data.message.startsWith('Error: ')) {
      // For example an exception after its test had ended, which fails the process but no test.
      await send({ warning: data.message })
    }
  }
  await send({ isEnd: true })
  yield ''
}

function outcome(type, { name, nesting, file, line, details, skip, todo }, printed) {
  const { error, duration_ms: milliseconds } = details
  return {
    result:
      skip !== undefined ? 'skip' : type === 'test:fail' && todo === undefined ? 'fail' : 'pass',
    name,
    file,
    line,
    milliseconds,
    isTopLevel: nesting === 0,
    isSuite: details.type === 'suite',
    // A parent test fails with its subtests; their own outcomes say why.
    isConsequence: error?.failureType === 'subtestsFailed',
    ...(type === 'test:fail' && { error: inspect(error?.cause ?? error, { depth: 10 }), printed }),
  }
}

function send(message) {
  return new Promise((resolve) => process.send(message, resolve))
}

/** Measures the CPU time of this process and of the children that it has waited for (proc(5)); elsewhere of itself. */
function cpuMeter() {
  let last
  function now() {
    try {
      const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
      return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0)
    } catch {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }
  }
  return {
    /** Without the loading of the files, which happens before the first test. */
    begin() {
      last ??= now()
    },
    sinceLast() {
      const before = last ?? now()
      last = now()
      return last - before
    },
  }
}
