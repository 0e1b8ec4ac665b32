/** `edge.audit`: how long events are kept and where else they go. D-43, D-46, D-134. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { FILE, loadFile, problemsOf } from '../../test/support/process/config-home.ts'
import { days } from '../base/time/duration.ts'

for (const word of ['none', 'stdout'] as const) {
  test(`the audit output may be ${word}`, async (t) => {
    const { config } = await loadFile(t, { ...FILE, edge: { audit: { output: word } } })
    assert.deepEqual(config.audit.output, { kind: word })
  })
}

test('the audit output may be a file, counted from the home', async (t) => {
  for (const [given, path] of [
    ['audit.log', 'audit.log'],
    ['logs/audit.log', 'logs/audit.log'],
    ['./stdout', 'stdout'],
    ['./none', 'none'],
  ] as const) {
    const { config } = await loadFile(t, { ...FILE, edge: { audit: { output: given } } })
    assert.deepEqual(config.audit.output, { kind: 'file', path: join(config.home, path) }, given)
  }
  const { config } = await loadFile(t, { ...FILE, edge: { audit: { output: '/var/log/a.log' } } })
  assert.deepEqual(config.audit.output, { kind: 'file', path: '/var/log/a.log' })
})

test('an audit output that is not a path is refused', async (t) => {
  for (const output of ['', 'a\nb', 7, ['stdout']]) {
    const problems = await problemsOf(t, { ...FILE, edge: { audit: { output } } })
    assert.deepEqual(
      problems.map(({ path }) => path),
      ['edge.audit.output'],
      String(output),
    )
  }
})

test('a retention under a day becomes a day, with one warning', async (t) => {
  for (const [given, shown] of [
    ['1h', '1h'],
    ['0', '0s'],
    ['-7d', '-7d'],
  ] as const) {
    const file = { ...FILE, edge: { audit: { retention: given } } }
    const { config, adjustments } = await loadFile(t, file)
    assert.equal(config.audit.retention, days(1))
    assert.deepEqual(adjustments, [{ path: 'edge.audit.retention', given: shown, used: '1d' }])
  }
  const { config } = await loadFile(t, { ...FILE, edge: { audit: { retention: '7d' } } })
  assert.equal(config.audit.retention, days(7))
})
