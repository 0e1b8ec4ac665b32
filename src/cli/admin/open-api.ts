/** The management API for a command: with the session of whoever is logged in, and a word when an answer takes its time. */
import type { Io } from '../io.ts'
import { openSession } from '../open-session.ts'
import { withProgress } from '../waiting.ts'
import { createManagementApi, type ManagementApi } from './management-api.ts'

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
): Promise<ManagementApi> {
  const session = await openSession(values, io)
  return createManagementApi(
    {
      call: (path, given) => withProgress(io, 'Waiting for the server', session.call(path, given)),
    },
    optionFor,
  )
}
