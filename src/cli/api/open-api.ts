/** An API for a command: with the session of whoever is logged in, and a word when an answer takes its time. */
import { openSession } from '../contexts/open-session.ts'
import type { Io } from '../terminal/io.ts'
import { withProgress } from '../terminal/waiting.ts'
import { createEdgeApi, type EdgeApi } from './edge-api.ts'

/** What every command with a session takes. */
export interface SessionValues {
  readonly context?: string
  readonly json?: boolean
}

/** Thrown: CommandFailed when nobody is logged in, and ClientErrors. */
export async function openApi(
  values: SessionValues,
  io: Io,
  /** Which option a field of a body came from. */
  optionFor?: (field: string) => string | undefined,
  which: 'client' | 'management' = 'management',
): Promise<EdgeApi> {
  const session = await openSession(values, io)
  return createEdgeApi(
    {
      call: (path, given) => withProgress(io, 'Waiting for the server', session.call(path, given)),
    },
    which,
    optionFor,
  )
}
