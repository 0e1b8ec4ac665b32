/**
 * Limits how much expensive work runs at once, with a fair queue: every network has its own line, and the lines are
 * served in turn (D-22, D-215). A network that fills its line only makes its own requests wait longer; a caller from
 * another network is next. When the queue is full, the longest line loses a request first.
 */
import { Failure } from '../../../errors/catalogue.ts'

export interface Turns {
  /**
   * Runs the work when its turn comes. `from` names the network or device of the caller; undefined means work of the
   * service or of an authenticated caller, which shares one line. Throws SERVER_TOO_BUSY if the queue has no place for
   * it.
   */
  run<T>(from: string | undefined, work: () => Promise<T>): Promise<T>
  load(): Load
}

/** The current load. */
export interface Load {
  readonly running: number
  readonly queued: number
  /** How many requests were rejected since the start. */
  readonly refused: number
}

/** D-215: the most requests of one network that may wait while others wait too. Alone, it may use the whole queue. */
export const MOST_WAITING_EACH = 8

/** The retry delay for a rejected caller: about as long as a full queue takes. */
const RETRY_AFTER_SECONDS = 1

interface Waiting {
  begin(): void
  refuse(failure: Failure): void
}

export function createTurns(deps: {
  /** What the queue is for, as the log names it. */
  readonly purpose: string
  /** How many run at the same time. */
  readonly concurrency: number
  /** How many may wait, for all networks together. */
  readonly queue: number
}): Turns {
  const { purpose, concurrency, queue } = deps
  /** Lines that are not empty; the first one is served next. */
  const lines = new Map<string, Waiting[]>()
  let running = 0
  let queued = 0
  let refused = 0

  function busy(): Failure {
    refused += 1
    return new Failure('SERVER_TOO_BUSY', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      detail: `the queue for ${purpose} is full`,
    })
  }

  /** Makes room for one more request in the line, or throws. */
  function admit(from: string | undefined): void {
    const own = lines.get(lineOf(from))?.length ?? 0
    const areOthersWaiting = lines.size > (own === 0 ? 0 : 1)
    if (from !== undefined && own >= MOST_WAITING_EACH && areOthersWaiting) throw busy()
    if (queued < queue) return
    const [longest, line] = [...lines].reduce<readonly [string, readonly Waiting[]]>(
      (most, one) => (one[1].length > most[1].length ? one : most),
      ['', []],
    )
    // If the new request would make its line as long as the longest one, it has no better claim to the place.
    if (line.length <= own + 1) throw busy()
    const last = lines.get(longest)?.pop()
    queued -= 1
    last?.refuse(busy())
  }

  function waitIn(from: string | undefined): Promise<void> {
    return new Promise((begin, refuse) => {
      const name = lineOf(from)
      const line = lines.get(name)
      if (line === undefined) lines.set(name, [{ begin, refuse }])
      else line.push({ begin, refuse })
      queued += 1
    })
  }

  function next(): Waiting | undefined {
    const [first] = lines
    if (first === undefined) return undefined
    const [name, line] = first
    const waiting = line.shift()
    queued -= 1
    // Move the line to the end, so that every other line is served before it.
    lines.delete(name)
    if (line.length > 0) lines.set(name, line)
    return waiting
  }

  return {
    async run(from, work) {
      if (running >= concurrency) {
        admit(from)
        // Finished work hands its place over to the next, so `running` stays the same.
        await waitIn(from)
      } else {
        running += 1
      }
      try {
        return await work()
      } finally {
        const waiting = next()
        if (waiting === undefined) running -= 1
        else waiting.begin()
      }
    },
    load: () => ({ running, queued, refused }),
  }
}

/** No network and no device has an empty name. */
const lineOf = (from: string | undefined) => from ?? ''
