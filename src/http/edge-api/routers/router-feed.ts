/**
 * GET /router-feed, on the client API: the stream that edge routers follow, one JSON object per line. D-42; see
 * docs/router.md for the format. The router's authorization is checked again every few seconds.
 */

import { Readable } from 'node:stream'
import type { Brand } from '../../../base/brand.ts'
import { type IdentityId, newId } from '../../../base/ids.ts'
import type { CallPorts } from '../../../domain/calls/ports.ts'
import { authenticateRouter } from '../../../domain/calls/routers/authenticate-router.ts'
import { RUN } from '../../../domain/calls/routers/marks.ts'
import { HEARTBEAT_SECONDS, openRouterFeed } from '../../../domain/calls/routers/router-feed.ts'
import { invalid } from '../../../domain/refusals.ts'
import { LONGEST_CURSOR } from '../../../protocol/limits.ts'
import { empty } from '../../answer.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import type { Api } from '../api.ts'

type FeedId = Brand<string, 'FeedId'>

/** Disconnect a router that reads too slowly: it notices, and rejects its clients. */
const MOST_BUFFERED = 4 * 1024 * 1024

/** The number of heartbeats between two checks of the router's certificate and identity. */
const LOOK_EVERY = 2

export function addRouterFeed(
  api: Api,
  ports: CallPorts,
  { stopping }: Pick<ListenerParts, 'stopping'>,
): void {
  api.add(
    {
      method: 'GET',
      path: '/router-feed',
      access: 'router',
      cors: 'none',
      summary: 'Follow keys, CAs and everything that ends, as an edge router',
      query: {
        since: 'The cursor of the last line that was read; default: everything from the beginning.',
        confirms:
          'A name that the program chose at its start, 8 to 32 letters and digits: it confirms the marks of the feed.',
      },
      answers: {
        200: {
          types: ['application/x-ndjson'],
          about:
            'One JSON value on each line, until the connection is closed; docs/router.md describes the lines.',
        },
      },
      codes: ['INVALID_AUTH'],
    },
    async ({ method, query, caller, certificateChain }) => {
      const [since, ...others] = query.get('since') ?? []
      if (others.length > 0) throw invalid('since', 'is repeated')
      // A HEAD response has no body: nothing would read the lines, and nothing would end the feed.
      if (method === 'HEAD') return empty(200)
      const [run, ...more] = query.get('confirms') ?? []
      if (more.length > 0) throw invalid('confirms', 'is repeated')
      if (run !== undefined && !RUN.test(run)) throw invalid('confirms', 'is not a name')
      const chain = certificateChain()
      const stillMay = () => authenticateRouter(ports, chain, caller)
      const cursor = since === undefined || since.length > LONGEST_CURSOR ? undefined : since
      const routerId = await stillMay()
      const lines = follow(ports, { cursor, routerId, run, stillMay, stopping })
      return { ...empty(200), content: { kind: 'lines', lines } }
    },
  )
}

function follow(
  ports: CallPorts,
  {
    cursor,
    routerId,
    run,
    stillMay,
    stopping,
  }: {
    readonly cursor: string | undefined
    readonly routerId: IdentityId
    readonly run: string | undefined
    readonly stillMay: () => Promise<unknown>
    /** Ends the feed at shutdown; it never ends by itself. */
    readonly stopping: AbortSignal
  },
): Readable {
  const lines = new Readable({ read: () => undefined })
  // Send all sessions that have ended so far at once, regardless of size; the router must keep up with later lines.
  let most = Number.POSITIVE_INFINITY
  const feed = openRouterFeed(
    ports,
    cursor,
    (line) => {
      lines.push(`${JSON.stringify(line)}\n`)
      if (lines.readableLength > most) lines.destroy()
    },
    run === undefined ? undefined : { routerId, run },
  )
  const { routerPresence, random } = ports
  const feedId = newId<FeedId>(random)
  const shownRun = run ?? `~${feedId}`
  routerPresence.opened(routerId, shownRun, feedId)
  most = lines.readableLength + MOST_BUFFERED
  // Send a heartbeat immediately: a router relies on nothing before the first one.
  feed.beat()
  let beats = 0
  const timer = setInterval(() => {
    feed.beat()
    beats += 1
    if (beats % LOOK_EVERY === 0) stillMay().catch(() => lines.destroy())
  }, HEARTBEAT_SECONDS * 1_000)
  let isOpen = true
  const stop = () => {
    if (isOpen) routerPresence.closed(routerId, shownRun, feedId)
    isOpen = false
    stopping.removeEventListener('abort', end)
    clearInterval(timer)
    feed.close()
  }
  // Stop first, so that nothing is written after the end.
  const end = () => {
    stop()
    lines.push(null)
  }
  lines.once('close', stop)
  if (stopping.aborted) end()
  else stopping.addEventListener('abort', end)
  return lines
}
