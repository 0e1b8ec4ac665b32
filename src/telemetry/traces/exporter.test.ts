/** A collector that is unavailable, slow or full delays no caller: spans are dropped and counted. D-139. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../../test/support/eventually.ts'
import { hours, milliseconds } from '../../base/time/duration.ts'
import { createSpanExporter, type PostJson } from './exporter.ts'
import type { Span } from './span.ts'

const RESOURCE = { version: '1.2.3', instanceId: 'here' }

const span = (name: string): Span => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentSpanId: undefined,
  name,
  kind: 'server',
  begin: 1_900_000_000_000_000_001n,
  end: 1_900_000_000_000_000_002n,
  attributes: { 'http.response.status_code': 200, missing: undefined },
  hasFailed: false,
})

/** The names in what was posted. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into what was sent
const namesIn = (value: any): readonly string[] =>
  value.resourceSpans[0].scopeSpans[0].spans.map(({ name }: Span) => name)

function open(t: TestContext, post: PostJson, every = milliseconds(5)) {
  const lines: string[] = []
  const log = {
    info: (_: object, message: string) => void lines.push(message),
    warn: (_: object, message: string) => void lines.push(message),
  }
  const exporter = createSpanExporter({ post, resource: RESOURCE, log, every })
  t.after(() => exporter.stop())
  return { exporter, lines }
}

test('spans are sent together, in the words of the protocol', async (t) => {
  const posted: object[] = []
  const { exporter } = open(t, async (value) => void posted.push(value))
  exporter.add(span('one'))
  exporter.add({ ...span('two'), parentSpanId: 'c'.repeat(16), kind: 'client', hasFailed: true })
  await eventually(() => exporter.counts().exported === 2 || undefined, 'the export')
  const attributes = [{ key: 'http.response.status_code', value: { intValue: '200' } }]
  const common = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    startTimeUnixNano: '1900000000000000001',
    endTimeUnixNano: '1900000000000000002',
    attributes,
  }
  assert.deepEqual(posted, [
    {
      resourceSpans: [
        {
          resource: {
            attributes: [
              { key: 'service.name', value: { stringValue: 'latchkey' } },
              { key: 'service.version', value: { stringValue: '1.2.3' } },
              { key: 'service.instance.id', value: { stringValue: 'here' } },
            ],
          },
          scopeSpans: [
            {
              scope: { name: 'latchkey', version: '1.2.3' },
              spans: [
                { ...common, name: 'one', kind: 2, status: {} },
                {
                  ...common,
                  parentSpanId: 'c'.repeat(16),
                  name: 'two',
                  kind: 3,
                  status: { code: 2 },
                },
              ],
            },
          ],
        },
      ],
    },
  ])
})

test('a full batch is sent at once, and no batch is larger', async (t) => {
  const sizes: number[] = []
  const { exporter } = open(t, async (value) => void sizes.push(namesIn(value).length), hours(1))
  for (let i = 0; i < 1_300; i++) exporter.add(span(`${i}`))
  await eventually(() => exporter.counts().exported === 1_024 || undefined, 'two batches')
  await exporter.stop()
  assert.deepEqual(sizes, [512, 512, 276])
  assert.deepEqual(exporter.counts(), { exported: 1_300, lost: 0 })
})

test('a collector that does not answer fills a bounded queue, and adding never waits', async (t) => {
  const begun = new EventTarget()
  const { exporter } = open(t, () => {
    begun.dispatchEvent(new Event('post'))
    return new Promise(() => {})
  })
  const posting = once(begun, 'post')
  exporter.add(span('first'))
  await posting
  for (let i = 0; i < 3_000; i++) exporter.add(span(`${i}`))
  assert.deepEqual(exporter.counts(), { exported: 0, lost: 3_000 - 2_048 })
})

test('a stop waits two seconds for a collector that does not answer, and no longer', async (t) => {
  const { exporter } = open(t, () => new Promise(() => {}), hours(1))
  exporter.add(span('last'))
  const begun = performance.now()
  await exporter.stop()
  const waited = performance.now() - begun
  assert.ok(waited > 1_900 && waited < 60_000, `${waited} ms`)
})

test('a stop sends what is left, and what comes later is lost', async (t) => {
  const posted: object[] = []
  const { exporter } = open(t, async (value) => void posted.push(value), hours(1))
  exporter.add(span('last'))
  await exporter.stop()
  exporter.add(span('too late'))
  await sleep(20)
  assert.deepEqual(posted.map(namesIn), [['last']])
  assert.deepEqual(exporter.counts(), { exported: 1, lost: 1 })
})

test('trouble is logged when it begins and when it ends, and what was sent then is lost', async (t) => {
  let isDown = true
  const { exporter, lines } = open(t, async () => {
    if (isDown) throw new Error('the answer has the status 503')
  })
  exporter.add(span('one'))
  await eventually(() => exporter.counts().lost === 1 || undefined, 'the first loss')
  exporter.add(span('two'))
  await eventually(() => exporter.counts().lost === 2 || undefined, 'the second loss')
  isDown = false
  exporter.add(span('three'))
  await eventually(() => exporter.counts().exported === 1 || undefined, 'the recovery')
  assert.deepEqual(lines, [
    'traces cannot be exported; they are dropped until it works again',
    'traces can be exported again',
  ])
})
