/** The message for the user when a command fails, and its exit code. It never contains a secret. */

import { explainSystemError, isSystemError } from '../../app/installation/file-faults.ts'
import { RefusedStart } from '../../app/installation/private-files.ts'
import { UnusableHome } from '../../app/installation/unusable-home.ts'
import {
  ClientError,
  FactorRequired,
  LoginCancelled,
  RateLimited,
  Refused,
  ServerUnavailable,
  SessionEnded,
  UnexpectedAnswer,
  UntrustedServer,
} from '../../client/errors.ts'
import { ConfigProblems } from '../../config/problems.ts'
import { StoreUnavailable } from '../../errors/store-unavailable.ts'
import { CommandFailed, EXIT, type ExitCode, type Io } from './io.ts'
import { plain } from './output.ts'

/** Prints the message and returns the exit code. Removes control characters, because others may choose names in it. */
export function reportFailure(error: unknown, to: Pick<Io, 'err'>): ExitCode {
  const io: Pick<Io, 'err'> = {
    err: (text) => to.err(text.split('\n').map(plain).join('\n')),
  }
  if (error instanceof ConfigProblems) {
    io.err(error.message)
    return EXIT.config
  }
  if (error instanceof CommandFailed) {
    io.err(`latchkey: ${error.message}`)
    return error.exit
  }
  if (error instanceof ClientError) {
    io.err(`latchkey: ${error.message}${requestOf(error)}${adviceFor(error)}`)
    return exitOf(error)
  }
  // The message names the file or the address and the problem; a stack trace would add nothing.
  if (error instanceof RefusedStart || error instanceof StoreUnavailable) {
    io.err(`latchkey: ${error.message}`)
  } else if (isSystemError(error)) io.err(`latchkey: ${explainSystemError(error)}`)
  else io.err(`latchkey: ${error instanceof Error ? error.stack : String(error)}`)
  return error instanceof UnusableHome ? EXIT.config : EXIT.failed
}

function exitOf(error: ClientError): ExitCode {
  if (error instanceof RateLimited) return EXIT.again
  if (error instanceof ServerUnavailable) return EXIT.unavailable
  if (error instanceof UntrustedServer || error instanceof UnexpectedAnswer) return EXIT.protocol
  if (error instanceof LoginCancelled) return EXIT.failed
  if (error instanceof Refused) {
    const isAboutWho = error.status === 401 || error.status === 403 || error.status === 0
    if (isAboutWho || error.constructor !== Refused) return EXIT.denied
    if (error.status === 404) return EXIT.missing
    return error.status === 409 ? EXIT.conflict : EXIT.data
  }
  return error.code === 'NOT_CONFIRMED' ? EXIT.protocol : EXIT.data
}

function adviceFor(error: ClientError): string {
  if (error instanceof SessionEnded) return '; run: latchkey login'
  if (error instanceof Refused && error.status === 421) {
    return '; if its address was changed, log in at the new one: latchkey login --url https://HOST:PORT'
  }
  if (isAboutTotp(error)) return '; that is done at a login in a browser or on a terminal'
  if (error instanceof UntrustedServer) {
    return UNTRUSTED_ADVICE[error.code] ?? '; see "latchkey login --help" for --ca'
  }
  if (error instanceof RateLimited && error.retryAfterSeconds !== undefined) {
    return `; wait ${error.retryAfterSeconds} seconds`
  }
  return ''
}

/** For certificates that another CA would not help. */
const UNTRUSTED_ADVICE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: '; its certificate has expired, or the clock of this machine is wrong',
  CERT_NOT_YET_VALID: '; its certificate is not valid yet, or the clock of this machine is wrong',
  ERR_TLS_CERT_ALTNAME_INVALID:
    '; its certificate is for other names: use one of them as the host of --url',
}

/** A code can be entered anywhere; enrolling needs a browser or a terminal. */
function isAboutTotp(error: ClientError): boolean {
  return error instanceof FactorRequired && error.queries.some(({ typeId }) => typeId === 'MFA')
}

/** For the administrator of the server: `latchkey explain` says exactly what was wrong. */
function requestOf(error: ClientError): string {
  const { requestId } = error instanceof Refused ? error : {}
  return requestId === undefined ? '' : ` [request ${requestId}]`
}
