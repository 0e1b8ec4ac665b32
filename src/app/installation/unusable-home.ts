/** A home that cannot be used, and why. */
import { isSystemError, WRITING } from './file-faults.ts'
import { RefusedStart } from './private-files.ts'

/** The folder that `--home` names cannot be a home, and a restart will not change that (D-255). */
export class UnusableHome extends RefusedStart {
  constructor(home: string, cause: NodeJS.ErrnoException) {
    const { code = '', message, syscall } = cause
    const isClosed = code === 'EACCES' && syscall === 'stat'
    const why = isClosed ? CLOSED : (REASONS[code] ?? message)
    const remedy = `${isClosed ? 'run the command as its user, or ' : ''}name another one with --home`
    super(`the home ${home} cannot be used: ${why}; ${remedy}`, { cause })
    this.name = 'UnusableHome'
  }
}

const CLOSED = 'this user may not enter it'

const REASONS: Readonly<Record<string, string>> = {
  ...WRITING,
  ENOENT: 'no folder can be created there',
  EEXIST: 'there is something of this name that is not a folder',
}

/** Turns a file system error about the home into UnusableHome. */
export async function usingHome<T>(home: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isSystemError(error) ? new UnusableHome(home, error) : error
  }
}
