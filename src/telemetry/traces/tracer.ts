/**
 * Spans: one for each traced request, and below it one for each expensive step. Node's async context tracks which
 * request is being served. Names and attributes come from the program; the only caller input in them are the two ids of
 * `traceparent` (R108, D-139).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { SpanExporter } from './exporter.ts'
import type { Attributes, SpanKind } from './span.ts'
import { parseTraceparent, type TraceParent } from './traceparent.ts'

export interface Tracer {
  /** Undefined if the request is not traced. */
  beginRequest(request: TracedRequest): RequestTrace | undefined
  /** Runs `work` as a span below the current one; without a current one, just runs it. */
  span<T>(about: SpanFacts, work: () => Promise<T>): Promise<T>
}

export interface TracedRequest {
  readonly name: string
  readonly attributes: Attributes
  readonly traceparent: string | undefined
}

export interface SpanFacts {
  readonly name: string
  readonly kind: SpanKind
  readonly attributes: Attributes
}

export interface RequestTrace {
  /** Everything that begins in `work` belongs to this request. */
  run(work: () => void): void
  end(outcome: { readonly attributes: Attributes; readonly hasFailed: boolean }): void
}

export function createTracer(deps: {
  readonly exporter: Pick<SpanExporter, 'add'>
  readonly clock: Clock
  readonly random: Random
  readonly sampleRatio: number
}): Tracer {
  const { exporter, clock, random, sampleRatio } = deps
  const current = new AsyncLocalStorage<TraceParent>()

  /** Random, and not derived from the trace id, which the caller chooses. */
  const isSampled = () => Buffer.from(random.bytes(4)).readUInt32BE() < sampleRatio * 2 ** 32

  function begin({ name, kind, attributes }: SpanFacts, parent: TraceParent | undefined) {
    const span = { traceId: parent?.traceId ?? hex(random, 16), spanId: hex(random, 8) }
    const times = startTimes(clock)
    const end: RequestTrace['end'] = (outcome) =>
      exporter.add({
        ...span,
        ...times(),
        parentSpanId: parent?.spanId,
        name,
        kind,
        attributes: { ...attributes, ...outcome.attributes },
        hasFailed: outcome.hasFailed,
      })
    return { span, end }
  }

  return {
    beginRequest({ name, attributes, traceparent }) {
      if (!isSampled()) return undefined
      const parent = parseTraceparent(traceparent)
      const { span, end } = begin({ name, kind: 'server', attributes }, parent)
      return { run: (work) => current.run(span, work), end }
    },

    async span(about, work) {
      const parent = current.getStore()
      if (parent === undefined) return work()
      const { span, end } = begin(about, parent)
      try {
        const outcome = await current.run(span, work)
        end({ attributes: {}, hasFailed: false })
        return outcome
      } catch (error) {
        end({ attributes: { 'error.type': nameOf(error) }, hasFailed: true })
        throw error
      }
    },
  }
}

/** Returns the kind of an error, never its message, which can quote input. */
function nameOf(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error
  return /^\w{1,64}$/.test(name) ? name : 'Error'
}

/** Starts at the time of day, with a duration that no clock jump can change. */
function startTimes(clock: Clock): () => { readonly begin: bigint; readonly end: bigint } {
  const begin = BigInt(Math.round(clock.now())) * 1_000_000n
  const uptime: Duration = clock.uptime()
  return () => ({ begin, end: begin + BigInt(Math.round((clock.uptime() - uptime) * 1e6)) })
}

function hex(random: Random, bytes: number): string {
  return Buffer.from(random.bytes(bytes)).toString('hex')
}
