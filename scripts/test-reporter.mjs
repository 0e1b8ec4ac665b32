// A reporter for `node --test` that sends the outcome of every test to the parent process, over IPC. scripts/test.mjs
// runs several of these processes at once, and prints the outcomes.
import { inspect } from 'node:util'

/** How much of a test's output is quoted with its failure. */
const QUOTED_CHARACTERS = 20_000

// biome-ignore lint/style/noDefaultExport: node --test takes the default export of a reporter
export default async function* reportToParent(events) {
  const printed = new Map()
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') {
      printed.set(
        data.file,
        `${printed.get(data.file) ?? ''}${data.message}`.slice(-QUOTED_CHARACTERS),
      )
    } else if (type === 'test:pass' || type === 'test:fail') {
      await send(outcome(type, data, printed.get(data.file)))
    }
  }
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
