/**
 * Tells open pages of the console that something has happened, as server-sent events: GET /console/stream (D-360). The
 * streams of a listener share one reader of the audit log, which every instance and worker writes to; without a stream
 * it reads nothing. A stream ends with its session.
 */

import { Readable } from 'node:stream'
import type { EventId } from '../../../base/ids.ts'
import { seconds } from '../../../base/time/duration.ts'
import { minus } from '../../../base/time/instant.ts'
import { compares } from '../../../domain/lists/filters.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { STREAM_PATH } from '../../../web/console/navigation.ts'
import type { Answer } from '../../answer.ts'
import type { Call } from '../../call.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { SITE_ROUTE } from '../../own-site/site.ts'
import { turnAway, visitorOf } from '../../own-site/visitor.ts'
import type { Router } from '../../router.ts'
import { CONSOLE_SITE } from '../console-route.ts'
import type { ConsolePorts } from '../ports.ts'

/** D-360: in one process, and of one session. Browsers open at most six connections to an address. */
const MOST_STREAMS = 64
const MOST_OF_SESSION = 4

const READ_EVERY_MILLISECONDS = 1_000
/** How often a stream is written to at least, and its session is checked. */
const CHECK_EVERY_MILLISECONDS = 10_000
/** Commits can come late: events from this long before are read again. */
const OVERLAP = seconds(30)
/** More at once are one change anyway. */
const MOST_READ = 200

interface Stream {
  readonly sessionId: string
  readonly lines: Readable
  readonly end: () => void
  /** Ends the stream if its session is over. */
  readonly check: () => void
}

export function addLiveChanges(
  router: Router,
  ports: ConsolePorts,
  listener: Pick<ListenerParts, 'addresses' | 'stopping'>,
): void {
  const at = { site: CONSOLE_SITE, ports, listener }
  const streams = new Set<Stream>()
  const reader = createReader(ports, () => {
    for (const { lines, check } of streams) {
      lines.push('event: change\ndata: \n\n')
      // What happened may be the end of its session.
      check()
    }
  })

  router.add(
    { ...SITE_ROUTE, method: 'GET', url: STREAM_PATH, replies: [200, 204, 403] },
    async (call) => {
      const visitor = await visitorOf(at, call)
      // RFC 9110 §15.3.5 and the HTML standard: a browser does not connect again after 204.
      if (visitor.kind === 'stranger') return { status: 204, failure: visitor.failure }
      if (visitor.kind !== 'known') return turnAway(at, call, visitor)
      const { sessionId } = visitor.session
      call.isFrom(visitor.session)
      if (call.method === 'HEAD') return { status: 200 }
      if (streams.size >= MOST_STREAMS)
        throw new Failure('SERVER_TOO_BUSY', { retryAfterSeconds: 60 })
      const own = [...streams].filter((stream) => stream.sessionId === sessionId)
      // The tab that was opened first gives way.
      if (own.length >= MOST_OF_SESSION) own[0]?.end()
      return follow(call, sessionId)
    },
  )

  function follow(call: Call, sessionId: string): Answer {
    const { stopping } = listener
    const lines = new Readable({ read: () => undefined })
    const timer = setInterval(check, CHECK_EVERY_MILLISECONDS)
    const stream: Stream = { sessionId, lines, end, check }
    streams.add(stream)
    reader.start()
    lines.once('close', stop)
    if (stopping.aborted) end()
    else stopping.addEventListener('abort', end)
    lines.push('retry: 5000\n\n')
    return {
      status: 200,
      // For proxies that would wait for the end of the response.
      headers: { 'x-accel-buffering': 'no' },
      content: { kind: 'lines', type: 'text/event-stream', lines },
    }

    function stop(): void {
      stopping.removeEventListener('abort', end)
      clearInterval(timer)
      streams.delete(stream)
      if (streams.size === 0) reader.stop()
    }

    function end(): void {
      stop()
      lines.push(null)
    }

    function check(): void {
      lines.push(': \n\n')
      visitorOf(at, call)
        .then(({ kind }) => {
          if (kind === 'known' || !streams.has(stream)) return
          lines.push('event: over\ndata: \n\n')
          end()
        })
        // The database cannot be reached: the page keeps what it shows.
        .catch(end)
    }
  }
}

/** Reads the newest events as long as it is started, and calls back when there are ones that it has not seen. */
function createReader(
  { events, clock }: Pick<ConsolePorts, 'events' | 'clock'>,
  onChange: () => void,
) {
  let timer: NodeJS.Timeout | undefined
  let seen: ReadonlySet<EventId> | undefined
  let isReading = false

  async function read(): Promise<void> {
    if (isReading) return
    isReading = true
    try {
      const filter = compares('at', '>=', minus(clock.now(), OVERLAP))
      const { rows } = await events.list({ filter, limit: MOST_READ, offset: 0 })
      const before = seen
      seen = new Set(rows.map(({ id }) => id))
      if (before !== undefined && rows.some(({ id }) => !before.has(id))) onChange()
    } catch {
      // The next read tries again.
    } finally {
      isReading = false
    }
  }

  return {
    start(): void {
      if (timer !== undefined) return
      timer = setInterval(() => void read(), READ_EVERY_MILLISECONDS)
      void read()
    },
    stop(): void {
      clearInterval(timer)
      timer = undefined
      seen = undefined
    },
  }
}
