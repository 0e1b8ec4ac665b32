/** What the values of several processes are together. D-291. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Family, lastingFamilies, mergeFamilies, renderFamilies } from './families.ts'

const family = (
  name: string,
  over: Family['over'],
  type: Family['type'],
  value: number,
): Family => ({
  name,
  help: 'Help.',
  type,
  over,
  samples: [[name, value]],
})

test('counters are added, and a gauge is what its definition says', () => {
  const merged = mergeFamilies([
    [
      family('a_total', 'sum', 'counter', 2),
      family('worst', 'max', 'gauge', 1),
      family('well', 'min', 'gauge', 1),
      family('open', 'sum', 'gauge', 4),
    ],
    [
      family('a_total', 'sum', 'counter', 3),
      family('worst', 'max', 'gauge', 7),
      family('well', 'min', 'gauge', 0),
      family('open', 'sum', 'gauge', 1),
    ],
  ])
  assert.deepEqual(
    merged.map(({ samples }) => samples[0]),
    [
      ['a_total', 5],
      ['worst', 7],
      ['well', 0],
      ['open', 5],
    ],
  )
})

test('the buckets, sum and count of a histogram are added one by one, and series of one process stay', () => {
  const histogram = (samples: Family['samples']): Family => ({
    name: 'wait',
    help: 'Waiting.',
    type: 'histogram',
    over: 'sum',
    samples,
  })
  const [merged] = mergeFamilies([
    [
      histogram([
        ['wait_bucket{le="1"}', 1],
        ['wait_bucket{le="+Inf"}', 2],
        ['wait_sum', 5],
        ['wait_count', 2],
      ]),
    ],
    [
      histogram([
        ['wait_bucket{le="1"}', 1],
        ['wait_bucket{le="+Inf"}', 1],
        ['wait_sum', 0.5],
        ['wait_count', 1],
      ]),
    ],
    [histogram([['wait_count{route="/b"}', 1]])],
  ])
  assert.deepEqual(merged?.samples, [
    ['wait_bucket{le="1"}', 2],
    ['wait_bucket{le="+Inf"}', 3],
    ['wait_sum', 5.5],
    ['wait_count', 3],
    ['wait_count{route="/b"}', 1],
  ])
})

test('of a process that has ended, the counts remain and the gauges do not', () => {
  const lasting = lastingFamilies([
    family('a_total', 'sum', 'counter', 2),
    family('open', 'sum', 'gauge', 4),
  ])
  assert.deepEqual(
    lasting.map(({ name }) => name),
    ['a_total'],
  )
})

test('a family without a sample is not shown', () => {
  assert.equal(renderFamilies([{ ...family('a', 'sum', 'gauge', 1), samples: [] }]), '')
})
