/**
 * Limits how many connections the process has open at the same time, over all of its servers. D-198: at the descriptor
 * limit, libuv silently closes new connections, and the database and files get no descriptors either. So we stop before
 * that, count the refused connections, and log them.
 */
import type { Log } from '../base/log.ts'

export interface ConnectionLimit {
  /** Reserves a place. Returns a function that releases it, or undefined if all are in use. */
  take(): (() => void) | undefined
  /** Counts a connection that the operating system refused before we got it. */
  noteRefused(error: NodeJS.ErrnoException): void
  load(): ConnectionLoad
}

export interface ConnectionLoad {
  readonly open: number
  readonly refused: number
  /** `Infinity` if the process has no descriptor limit. */
  readonly most: number
}

/** Reserved for the database, files, logs, and outgoing calls. */
const RESERVED_DESCRIPTORS = 128

/** At most one log line in this time, however many connections are refused. */
const QUIET_MILLISECONDS = 10_000

/** `perConnection`: how many descriptors one connection takes, including those opened on its behalf. */
export function mostConnections(perConnection: number, descriptors = descriptorLimit()): number {
  const free = Math.max(descriptors - RESERVED_DESCRIPTORS, descriptors / 2)
  return Math.max(1, Math.floor(free / perConnection))
}

export function createConnectionLimit(most: number, log: Log): ConnectionLimit {
  let open = 0
  let refused = 0
  let unlogged = 0
  let quiet: NodeJS.Timeout | undefined

  function refuse(why: object): void {
    refused += 1
    unlogged += 1
    if (quiet === undefined) logRefusals(why)
  }

  function logRefusals(why: object): void {
    log.warn({ ...why, refused: unlogged, open, most }, 'connections are refused')
    unlogged = 0
    quiet = setTimeout(() => {
      quiet = undefined
      if (unlogged > 0) logRefusals(why)
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

/** RLIMIT_NOFILE; Node raises the soft limit to the hard one when it starts. */
function descriptorLimit(): number {
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
