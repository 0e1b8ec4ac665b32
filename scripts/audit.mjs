// Fails the build on known vulnerabilities in what we ship (R117). If the registry mirror does not support audits, this
// only says so and does not fail: the result would be the same for every change.
import { spawnSync } from 'node:child_process'

const { stdout, stderr } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' })
const report = parse(stdout)
const counts = report?.metadata?.vulnerabilities
if (counts === undefined) {
  const why = report?.message ?? report?.error?.summary ?? stderr.split('\n')[0] ?? ''
  console.warn(`the registry did not answer the audit, which is skipped: ${why}`)
} else {
  const { info, low, moderate, high, critical } = counts
  console.log(
    `known holes: ${critical} critical, ${high} high, ${moderate} moderate, ${low + info} low`,
  )
  if (high + critical > 0) {
    console.error(Object.keys(report.vulnerabilities).join(', '))
    process.exitCode = 1
  }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
