/**
 * Limits how many connections the process has open at the same time, over all of its servers. D-198: at the descriptor
 * limit, libuv silently closes new connections, and the database and files get no descriptors either. So we stop before
 * that, count the refused connections, and log them. D-201, D-469: connections that have sent no request make way first,
 * then those without a running one.
 */
import type { Log } from '../base/log.ts'

export interface ConnectionLimit {
  /**
   * Reserves a place. If all are in use, the oldest connection that has sent no request makes way: its `close` is called.
   * If there is none, the one that has been idle the longest. Returns undefined if every connection has a request.
   */
  take(close: () => void): Place | undefined
  /** Counts a connection that the operating system refused before we got it. */
  noteRefused(error: NodeJS.ErrnoException): void
  load(): ConnectionLoad
}

/** The place of one connection, which counts as silent until `keep` is called. */
export interface Place {
  /**
   * The peer has sent a request: the connection does not make way for another until the returned function is called,
   * which says that the request is over.
   */
  keep(): () => void
  giveBack(): void
}

export interface ConnectionLoad {
  readonly open: number
  readonly refused: number
  /** Silent and idle connections that made way for new ones. */
  readonly displaced: number
  /** `Infinity` if the process has no descriptor limit. */
  readonly most: number
}

/** Reserved for the database, files, logs, and outgoing calls. */
const RESERVED_DESCRIPTORS = 128

/** At most one log line of each kind in this time, however many connections it counts. */
const QUIET_MILLISECONDS = 10_000

/** `perConnection`: how many descriptors one connection takes, including those opened on its behalf. */
export function mostConnections(perConnection: number, descriptors = descriptorLimit()): number {
  const free = Math.max(descriptors - RESERVED_DESCRIPTORS, descriptors / 2)
  return Math.max(1, Math.floor(free / perConnection))
}

export function createConnectionLimit(most: number, log: Log): ConnectionLimit {
  let open = 0
  /** Oldest first, each with the function that closes it. */
  const silent = new Map<Place, () => void>()
  /** Idle for the longest first. */
  const idle = new Map<Place, () => void>()
  const refusals = createTally((count, why) =>
    log.warn({ ...why, refused: count, open, most }, 'connections are refused'),
  )
  const displacements = createTally((count) =>
    log.warn(
      { displaced: count, open, most },
      'idle connections are closed to make room for new ones',
    ),
  )

  /** D-201, D-469. */
  function displaceOne(): boolean {
    const [first] = silent.size > 0 ? silent : idle
    if (first === undefined) return false
    const [place, close] = first
    displacements.add({})
    place.giveBack()
    close()
    return true
  }

  return {
    take(close) {
      if (open >= most && !displaceOne()) {
        refusals.add({ why: 'the limit of open connections is reached' })
        return undefined
      }
      open += 1
      let isTaken = true
      let running = 0
      const place: Place = {
        keep() {
          silent.delete(place)
          idle.delete(place)
          running += 1
          let isRunning = true
          return () => {
            if (!isRunning) return
            isRunning = false
            running -= 1
            if (running === 0 && isTaken) idle.set(place, close)
          }
        },
        giveBack() {
          if (!isTaken) return
          isTaken = false
          silent.delete(place)
          idle.delete(place)
          open -= 1
        },
      }
      silent.set(place, close)
      return place
    },
    noteRefused: ({ code }) => refusals.add({ why: code }),
    load: () => ({ open, refused: refusals.total(), displaced: displacements.total(), most }),
  }
}

/** Counts, and logs the first one at once and then the sum of each interval. */
function createTally(write: (count: number, about: object) => void) {
  let total = 0
  let unlogged = 0
  let quiet: NodeJS.Timeout | undefined

  function logNow(about: object): void {
    const count = unlogged
    unlogged = 0
    write(count, about)
    quiet = setTimeout(() => {
      quiet = undefined
      if (unlogged > 0) logNow(about)
    }, QUIET_MILLISECONDS).unref()
  }

  return {
    add(about: object): void {
      total += 1
      unlogged += 1
      if (quiet === undefined) logNow(about)
    },
    total: () => total,
  }
}

let knownDescriptorLimit: number | undefined

/** RLIMIT_NOFILE; Node raises the soft limit to the hard one when it starts. */
function descriptorLimit(): number {
  // The report collects much else, so it is asked for once in a process.
  knownDescriptorLimit ??= readDescriptorLimit()
  return knownDescriptorLimit
}

function readDescriptorLimit(): number {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report
  const { excludeNetwork = false } = report
  report.excludeNetwork = true // otherwise the report resolves the names of all peers
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } }
  }
  report.excludeNetwork = excludeNetwork
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isSafeInteger(soft) ? soft : Number.POSITIVE_INFINITY
}
