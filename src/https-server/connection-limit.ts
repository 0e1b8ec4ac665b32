/**
 * How many connections the process holds at the same time, over all of its servers. D-198: at the limit of descriptors
 * the kernel's connections are closed by libuv without a word, and the database and the files find none either. So we
 * stop before that, count what we refuse, and say so.
 */
import type { Log } from '../base/log.ts'

export interface ConnectionLimit {
  /** Takes a place; answers the function that gives it back, or undefined when all are taken. */
  take(): (() => void) | undefined
  /** A connection that was refused by the operating system before we had it. */
  noteRefused(error: NodeJS.ErrnoException): void
  load(): ConnectionLoad
}

export interface ConnectionLoad {
  readonly open: number
  readonly refused: number
  /** `Infinity` where the process has no limit of descriptors. */
  readonly most: number
}

/** Kept for the database, files, logs, and calls to others. */
const RESERVED_DESCRIPTORS = 128

/** One line in this time, however many connections are refused. */
const QUIET_MILLISECONDS = 10_000

/** `perConnection`: how many descriptors one takes, with what is opened for it. */
export function mostConnections(perConnection: number, descriptors = descriptorLimit()): number {
  const free = Math.max(descriptors - RESERVED_DESCRIPTORS, descriptors / 2)
  return Math.max(1, Math.floor(free / perConnection))
}

export function createConnectionLimit(most: number, log: Log): ConnectionLimit {
  let open = 0
  let refused = 0
  let unsaid = 0
  let quiet: NodeJS.Timeout | undefined

  function refuse(why: object): void {
    refused += 1
    unsaid += 1
    if (quiet === undefined) say(why)
  }

  function say(why: object): void {
    log.warn({ ...why, refused: unsaid, open, most }, 'connections are refused')
    unsaid = 0
    quiet = setTimeout(() => {
      quiet = undefined
      if (unsaid > 0) say(why)
    }, QUIET_MILLISECONDS).unref()
  }

  return {
    take() {
      if (open >= most) {
        refuse({ why: 'the limit of open connections is reached' })
        return undefined
      }
      open += 1
      return () => {
        open -= 1
      }
    },
    noteRefused: ({ code }) => refuse({ why: code }),
    load: () => ({ open, refused, most }),
  }
}

/** RLIMIT_NOFILE; Node has raised the soft limit to the hard one when it started. */
function descriptorLimit(): number {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report
  const { excludeNetwork = false } = report
  report.excludeNetwork = true // it would look up the names of all peers
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } }
  }
  report.excludeNetwork = excludeNetwork
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isSafeInteger(soft) ? soft : Number.POSITIVE_INFINITY
}
