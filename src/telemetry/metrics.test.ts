/** The text for Prometheus, read by an independent reader; and labels that no caller can fill. D-138. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPrometheusText, sampleOf } from '../../test/support/monitoring/prometheus-text.ts'
import { createMetrics } from './metrics.ts'

test('a counter shows every series from the start, at zero', async () => {
  const metrics = createMetrics()
  const count = metrics.counter({
    name: 'doors_total',
    help: 'Doors.',
    labels: { side: ['left', 'right'], state: ['open', 'shut'] },
  })
  count({ side: 'left', state: 'open' })
  count({ state: 'open', side: 'left' })
  const doors = readPrometheusText(await metrics.render())
  assert.equal(doors.get('doors_total')?.type, 'counter')
  assert.equal(doors.get('doors_total')?.samples.length, 4)
  assert.equal(sampleOf(doors, 'doors_total', { side: 'left', state: 'open' }), 2)
  assert.equal(sampleOf(doors, 'doors_total', { side: 'right', state: 'shut' }), 0)
})

test('a counter without labels has one series', async () => {
  const metrics = createMetrics()
  const count = metrics.counter({ name: 'knocks_total', help: 'Knocks.', labels: {} })
  count({})
  assert.equal(
    await metrics.render(),
    '# HELP knocks_total Knocks.\n# TYPE knocks_total counter\nknocks_total 1\n',
  )
})

test('a value that is not on the list of a label is not counted', async () => {
  // Attack: every value that an anonymous caller can put into a label is a series that is kept for ever.
  const metrics = createMetrics()
  const count = metrics.counter({ name: 'doors_total', help: 'Doors.', labels: { side: ['left'] } })
  count({ side: 'up' as 'left' })
  const doors = readPrometheusText(await metrics.render())
  assert.deepEqual(doors.get('doors_total')?.samples, [
    { name: 'doors_total', labels: { side: 'left' }, value: 0 },
  ])
})

test('a histogram puts a value into every bucket whose limit it does not exceed', async () => {
  const metrics = createMetrics()
  const measure = metrics.histogram({
    name: 'wait_seconds',
    help: 'Waiting.',
    labels: ['route'],
    buckets: [0.1, 1],
  })
  for (const value of [0.05, 0.1, 0.5, 7]) measure({ route: '/a' }, value)
  const waits = readPrometheusText(await metrics.render())
  assert.equal(waits.get('wait_seconds')?.type, 'histogram')
  assert.equal(sampleOf(waits, 'wait_seconds_bucket', { le: '0.1' }), 2)
  assert.equal(sampleOf(waits, 'wait_seconds_bucket', { le: '1' }), 3)
  assert.equal(sampleOf(waits, 'wait_seconds_bucket', { le: '+Inf' }), 4)
  assert.equal(sampleOf(waits, 'wait_seconds_count'), 4)
  assert.ok(Math.abs(sampleOf(waits, 'wait_seconds_sum') - 7.65) < 1e-9)
})

test('a histogram makes no more than 2000 series, whatever its labels are', async () => {
  const metrics = createMetrics()
  const measure = metrics.histogram({ name: 'x', help: 'X.', labels: ['l'], buckets: [1] })
  for (let i = 0; i < 2_500; i++) measure({ l: String(i) }, 0)
  measure({ l: '1999' }, 0)
  const read = readPrometheusText(await metrics.render())
  const counts = read.get('x')?.samples.filter(({ name }) => name === 'x_count') ?? []
  assert.equal(counts.length, 2_000)
  assert.equal(counts.find(({ labels }) => labels['l'] === '1999')?.value, 2)
})

test('backslashes, quotes and line ends in values and explanations are escaped', async () => {
  const metrics = createMetrics()
  const value = 'a "quoted\\" \n line'
  metrics.read({ name: 'x', help: 'One\\two\nthree.', type: 'gauge', over: 'sum' }, () => [
    { labels: { l: value }, value: 1 },
  ])
  const read = readPrometheusText(await metrics.render())
  assert.deepEqual(read.get('x')?.samples, [{ name: 'x', labels: { l: value }, value: 1 }])
  assert.equal(read.get('x')?.help, 'One\\\\two\\nthree.')
})

test('what cannot be read is left out, and everything else is shown', async () => {
  const metrics = createMetrics()
  metrics.read({ name: 'broken', help: 'Broken.', type: 'gauge', over: 'sum' }, async () => {
    throw new Error('the database is away')
  })
  metrics.read({ name: 'empty', help: 'Empty.', type: 'gauge', over: 'sum' }, () => [])
  metrics.read({ name: 'well', help: 'Well.', type: 'gauge', over: 'sum' }, async () => [
    { value: 1.5e-7 },
  ])
  const read = readPrometheusText(await metrics.render())
  assert.deepEqual([...read.keys()], ['well'])
  assert.equal(sampleOf(read, 'well'), 1.5e-7)
})
