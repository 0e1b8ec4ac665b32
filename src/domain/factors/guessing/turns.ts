/**
 * A bounded number of places for expensive work, and a fair queue in front of them: every network has a line of its
 * own, and the lines are served in turn (D-22, D-215). Whoever fills one line only waits longer in it; a caller from
 * elsewhere is next. A full queue sheds the longest line first.
 */
import { Failure } from '../../../errors/catalogue.ts'

export interface Turns {
  /**
   * Runs the work when it is its turn. `from` names the network or device that asks; undefined: work of the service or
   * of an authenticated caller, which shares one line. Throws SERVER_TOO_BUSY when it is shed.
   */
  run<T>(from: string | undefined, work: () => Promise<T>): Promise<T>
  load(): Load
}

/** How busy it is. */
export interface Load {
  readonly running: number
  readonly queued: number
  /** Shed since the start. */
  readonly refused: number
}

/** D-215: as many of one network wait while others wait too. Alone it may use the whole queue. */
export const MOST_WAITING_EACH = 8

/** A caller that was shed comes back after about as long as a full queue takes. */
const RETRY_AFTER_SECONDS = 1

interface Waiting {
  begin(): void
  refuse(failure: Failure): void
}

export function createTurns(deps: {
  /** How many run at the same time. */
  readonly concurrency: number
  /** How many may wait, of all networks together. */
  readonly queue: number
}): Turns {
  const { concurrency, queue } = deps
  /** Lines that are not empty, the next one to be served first. */
  const lines = new Map<string, Waiting[]>()
  let running = 0
  let queued = 0
  let refused = 0

  function busy(): Failure {
    refused += 1
    return new Failure('SERVER_TOO_BUSY', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      detail: 'the queue for password hashing is full',
    })
  }

  /** Makes room for one more in the line, or throws. */
  function admit(from: string | undefined): void {
    const own = lines.get(lineOf(from))?.length ?? 0
    const areOthersWaiting = lines.size > (own === 0 ? 0 : 1)
    if (from !== undefined && own >= MOST_WAITING_EACH && areOthersWaiting) throw busy()
    if (queued < queue) return
    const [longest, line] = [...lines].reduce<readonly [string, readonly Waiting[]]>(
      (most, one) => (one[1].length > most[1].length ? one : most),
      ['', []],
    )
    // A newcomer that would then have as many as the longest line has no better claim.
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
    // To the end, so that every other line is served before this one is again.
    lines.delete(name)
    if (line.length > 0) lines.set(name, line)
    return waiting
  }

  return {
    async run(from, work) {
      if (running >= concurrency) {
        admit(from)
        // The work that ends hands its place over, so `running` does not change on the way.
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
