/** Opens an API for a command: with the session of the context, and a progress message for slow responses. */
import { openSession } from '../contexts/open-session.ts'
import type { Io } from '../terminal/io.ts'
import { withProgress } from '../terminal/waiting.ts'
import { createEdgeApi, type EdgeApi } from './edge-api.ts'

/** The options of every command with a session. */
export interface SessionValues {
  readonly context?: string
  readonly json?: boolean
}

interface ApiOptions {
  /** Which option a field of a body came from. */
  readonly optionFor?: (field: string) => string | undefined
  readonly which?: 'client' | 'management'
  /** How long each request may take, if not as long as usual. */
  readonly timeoutMilliseconds?: number
}

/** Throws CommandFailed if there is no login, and ClientErrors. */
export async function openApi(
  values: SessionValues,
  io: Io,
  { optionFor, which = 'management', timeoutMilliseconds }: ApiOptions = {},
): Promise<EdgeApi> {
  const session = await openSession(values, io, timeoutMilliseconds)
  return createEdgeApi(
    {
      call: (path, given) => withProgress(io, 'Waiting for the server', session.call(path, given)),
    },
    which,
    optionFor,
  )
}
