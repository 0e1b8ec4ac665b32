/**
 * Sends spans to the collector, in batches, and never delays a request: spans that do not fit into the queue are lost
 * and counted, and a dead or slow collector loses only its own spans (D-139).
 */

import type { Log } from '../../base/log.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { endsWithin } from '../../base/time/within.ts'
import { exportRequest, type Resource, type Span } from './span.ts'

/** Rejects with a message that may be logged. */
export type PostJson = (value: object, timeLimit: Duration) => Promise<void>

export interface SpanExporter {
  add(span: Span): void
  counts(): { readonly exported: number; readonly lost: number }
  /** Sends the remaining spans, for a short time, and nothing after that. */
  stop(): Promise<void>
}

const QUEUE = 2_048
const BATCH = 512
const EVERY: Duration = seconds(1)
const TIME_LIMIT: Duration = seconds(10)
/** The longest time that a stop waits for the collector. */
const LAST_TIME_LIMIT: Duration = seconds(2)

export function createSpanExporter(deps: {
  readonly post: PostJson
  readonly resource: Resource
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly every?: Duration
}): SpanExporter {
  const { post, resource, log, every = EVERY } = deps
  const queue: Span[] = []
  let exported = 0
  let lost = 0
  let isFailing = false
  let isStopped = false
  let sending: Promise<void> | undefined

  async function sendBatch(timeLimit: Duration): Promise<void> {
    const batch = queue.splice(0, BATCH)
    try {
      await post(exportRequest(batch, resource), timeLimit)
      exported += batch.length
      if (isFailing) log.info({}, 'traces can be exported again')
      isFailing = false
    } catch (error) {
      lost += batch.length
      const reason = error instanceof Error ? error.message : 'unknown reason'
      if (!isFailing)
        log.warn({ reason }, 'traces cannot be exported; they are dropped until it works again')
      isFailing = true
    }
  }

  /** One batch after the other. After a failure, the rest waits for the next round. */
  function send(): void {
    sending ??= (async () => {
      do await sendBatch(TIME_LIMIT)
      while (queue.length >= BATCH && !isFailing && !isStopped)
    })().finally(() => {
      sending = undefined
    })
  }

  const timer = setInterval(() => {
    if (queue.length > 0) send()
  }, every)
  timer.unref()

  return {
    add(span) {
      if (isStopped || queue.length >= QUEUE) {
        lost += 1
        return
      }
      queue.push(span)
      if (queue.length >= BATCH && !isFailing) send()
    },

    counts: () => ({ exported, lost }),

    async stop() {
      isStopped = true
      clearInterval(timer)
      await endsWithin(LAST_TIME_LIMIT, flush())
    },
  }

  async function flush(): Promise<void> {
    await sending
    while (queue.length > 0 && !isFailing) await sendBatch(LAST_TIME_LIMIT)
    lost += queue.splice(0).length
  }
}
