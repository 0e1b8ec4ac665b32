/** Which span belongs below which, who is traced, and what is never in a span. D-139, R108. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { milliseconds } from '../../base/time/duration.ts'
import type { Span } from './span.ts'
import { createTracer, type TracedRequest } from './tracer.ts'

const REQUEST: TracedRequest = {
  name: 'GET /a',
  attributes: { 'http.route': '/a' },
  traceparent: undefined,
}
const FINE = { attributes: {}, hasFailed: false }
const WORK = { name: 'work', kind: 'internal', attributes: {} } as const

function world(sampleRatio = 1, random = systemRandom) {
  const spans: Span[] = []
  const clock = new ManualClock()
  const exporter = { add: (span: Span) => void spans.push(span) }
  return { spans, clock, tracer: createTracer({ exporter, clock, random, sampleRatio }) }
}

/** Runs `work` in the request as a server would, and ends it. */
async function serve(
  tracer: ReturnType<typeof world>['tracer'],
  work: () => Promise<unknown>,
  request = REQUEST,
): Promise<void> {
  const trace = tracer.beginRequest(request)
  assert.ok(trace !== undefined)
  let done: Promise<unknown> = Promise.resolve()
  trace.run(() => {
    done = work()
  })
  await done
  trace.end(FINE)
}

test('work is a span below the span that it runs in, across awaits', async () => {
  const { spans, clock, tracer } = world()
  await serve(tracer, async () => {
    await sleep(1)
    await tracer.span({ ...WORK, name: 'outer' }, async () => {
      await sleep(1)
      clock.pass(milliseconds(1.5))
      return tracer.span({ ...WORK, name: 'inner' }, async () => sleep(1))
    })
  })
  const [inner, outer, server] = spans
  assert.deepEqual(
    spans.map(({ name, kind }) => [name, kind]),
    [
      ['inner', 'internal'],
      ['outer', 'internal'],
      ['GET /a', 'server'],
    ],
  )
  assert.equal(inner?.parentSpanId, outer?.spanId)
  assert.equal(outer?.parentSpanId, server?.spanId)
  assert.equal(server?.parentSpanId, undefined)
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1)
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, 3)
  assert.match(server?.traceId ?? '', /^[0-9a-f]{32}$/)
  assert.match(server?.spanId ?? '', /^[0-9a-f]{16}$/)
  assert.equal(server?.begin, BigInt(NOON) * 1_000_000n)
  assert.equal(server?.end, BigInt(NOON) * 1_000_000n + 1_500_000n)
})

test('two requests at once do not mix', async () => {
  const { spans, tracer } = world()
  await Promise.all(
    [5, 1].map((pause) =>
      serve(tracer, async () => {
        await sleep(pause)
        await tracer.span(WORK, () => sleep(pause))
      }),
    ),
  )
  const servers = spans.filter(({ kind }) => kind === 'server')
  const works = spans.filter(({ kind }) => kind === 'internal')
  assert.equal(new Set(servers.map(({ traceId }) => traceId)).size, 2)
  for (const { traceId, parentSpanId } of works) {
    assert.equal(servers.find((one) => one.traceId === traceId)?.spanId, parentSpanId)
  }
})

test('work outside of a request makes no span', async () => {
  const { spans, tracer } = world()
  assert.equal(await tracer.span(WORK, async () => 'done'), 'done')
  assert.deepEqual(spans, [])
})

test('a request continues the trace that its caller names', async () => {
  const { spans, tracer } = world()
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00'
  await serve(tracer, async () => {}, { ...REQUEST, traceparent })
  assert.equal(spans[0]?.traceId, '4bf92f3577b34da6a3ce929d0e0e4736')
  assert.equal(spans[0]?.parentSpanId, '00f067aa0ba902b7')
  assert.notEqual(spans[0]?.spanId, '00f067aa0ba902b7')
})

test('whether a request is traced is drawn, whatever its caller wishes', () => {
  // Attack: an anonymous caller who sets the flag "sampled", or picks a trace id for it, fills the collector.
  const wished = { ...REQUEST, traceparent: `00-${'0'.repeat(31)}1-00f067aa0ba902b7-01` }
  const { tracer } = world(0)
  assert.equal(tracer.beginRequest(wished), undefined)

  const drawn = [0, 63, 64, 255]
  const random = { bytes: () => new Uint8Array([drawn.shift() ?? 0, 0, 0, 0, 0, 0, 0, 0]) }
  const quarter = world(0.25, { bytes: (n) => (n === 4 ? random.bytes() : systemRandom.bytes(n)) })
  const traced = [1, 2, 3, 4].map(() => quarter.tracer.beginRequest(wished) !== undefined)
  assert.deepEqual(traced, [true, true, false, false])
})

test('all requests are traced with the ratio 1, also at the highest draw', () => {
  const { tracer } = world(1, { bytes: (n) => new Uint8Array(n).fill(255) })
  assert.notEqual(tracer.beginRequest(REQUEST), undefined)
})

test('R108: a span of work that failed has the kind of the error and never its message', async () => {
  const { spans, tracer } = world()
  const failure = new TypeError('the password was hunter2')
  await serve(tracer, () =>
    assert.rejects(
      tracer.span(WORK, async () => {
        throw failure
      }),
      failure,
    ),
  )
  assert.equal(spans[0]?.hasFailed, true)
  assert.deepEqual(spans[0]?.attributes, { 'error.type': 'TypeError' })

  const odd = Object.assign(new Error('x'), { name: 'hunter2 is the password' })
  await serve(tracer, () => tracer.span(WORK, () => Promise.reject(odd)).catch(() => {}))
  assert.deepEqual(spans[2]?.attributes, { 'error.type': 'Error' })
})
