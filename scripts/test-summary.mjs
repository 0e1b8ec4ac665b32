// What a test run ends with: every failure again, in brief, because the end of the output is what is always kept and
// read. A failure beside other files whose file passes alone does not fail the run, but is listed as unsteady (D-258).

/** How many failures are quoted; of the others only the titles are listed. */
const QUOTED_FAILURES = 20
const QUOTED_LINES = 16
const QUOTED_COLUMNS = 240

/** Sorts failures by what the second run of their files, alone, has shown. */
export function judge(failures, repeats) {
  const failed = []
  const unsteady = []
  for (const failure of failures) {
    const second = failure.suspects.map((file) => repeats.get(file))
    const passedAlone = second.every((again) => again?.length === 0)
    if (passedAlone) unsteady.push(failure)
    else failed.push({ ...failure, again: second.flatMap((failures) => failures ?? []) })
  }
  return { failed, unsteady }
}

export function summarize({ failed, unsteady }) {
  const lines = []
  if (unsteady.length > 0) {
    lines.push('\nUnsteady (failed beside others, passed alone; the run does not fail for these):')
    lines.push(...unsteady.flatMap((failure, index) => describe(failure, index)))
  }
  if (failed.length > 0) {
    lines.push('\nFailed:')
    for (const [index, failure] of failed.entries()) {
      lines.push(...describe(failure, index), `  ${secondRun(failure)}`)
    }
  }
  return lines
}

function describe({ place, title, text }, index) {
  const head = ['', `✖ ${title}`, `  ${place}`]
  return index < QUOTED_FAILURES ? [...head, ...brief(text)] : head
}

function secondRun({ again, title }) {
  if (again.length === 0) return 'Did not run again alone.'
  if (again.some((failure) => failure.title === title))
    return 'Failed beside others, failed alone too.'
  const others = again.map((failure) => `${failure.title} (${failure.place})`)
  return `Failed beside others; alone this failed: ${others.join('; ')}`
}

function brief(text) {
  const all = text.split('\n').map((line) => `    ${line.slice(0, QUOTED_COLUMNS)}`)
  const left = all.length - QUOTED_LINES
  return left <= 0 ? all : [...all.slice(0, QUOTED_LINES), `    … ${left} more lines above`]
}
