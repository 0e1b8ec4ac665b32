/** What a person is told when a command fails, and which exit code it has. Nothing of it holds a secret. */
import { RefusedStart } from '../app/private-files.ts'
import {
  ClientError,
  LoginCancelled,
  RateLimited,
  Refused,
  ServerUnavailable,
  SessionEnded,
  UnexpectedAnswer,
  UntrustedServer,
} from '../client/client.ts'
import { ConfigProblems } from '../config/problems.ts'
import { CommandFailed, EXIT, type ExitCode, type Io } from './io.ts'

/** Says it, and answers the exit code. */
export function reportFailure(error: unknown, io: Pick<Io, 'err'>): ExitCode {
  if (error instanceof ConfigProblems) {
    io.err(error.message)
    return EXIT.config
  }
  if (error instanceof CommandFailed) {
    io.err(`latchkey: ${error.message}`)
    return error.exit
  }
  if (error instanceof ClientError) {
    io.err(`latchkey: ${error.message}${adviceFor(error)}`)
    return exitOf(error)
  }
  // It names the file or the address and what is wrong there; our stack would add nothing.
  if (error instanceof RefusedStart || isSystemError(error)) io.err(`latchkey: ${error.message}`)
  else io.err(`latchkey: ${error instanceof Error ? error.stack : String(error)}`)
  return EXIT.failed
}

function exitOf(error: ClientError): ExitCode {
  if (error instanceof RateLimited) return EXIT.again
  if (error instanceof ServerUnavailable) return EXIT.unavailable
  if (error instanceof UntrustedServer || error instanceof UnexpectedAnswer) return EXIT.protocol
  if (error instanceof LoginCancelled) return EXIT.failed
  if (error instanceof Refused) {
    const isAboutWho = error.status === 401 || error.status === 403 || error.status === 0
    return isAboutWho || error.constructor !== Refused ? EXIT.denied : EXIT.data
  }
  return error.code === 'NOT_CONFIRMED' ? EXIT.protocol : EXIT.data
}

function adviceFor(error: ClientError): string {
  if (error instanceof SessionEnded) return '; run: latchkey login'
  if (error instanceof UntrustedServer) return '; see "latchkey login --help" for --ca'
  if (error instanceof RateLimited && error.retryAfterSeconds !== undefined) {
    return `; wait ${error.retryAfterSeconds} seconds`
  }
  return ''
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
