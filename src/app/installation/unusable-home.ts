/** A home that cannot be used, and why. */
import { isSystemError } from './file-faults.ts'
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
  ENOENT: 'no folder can be created there',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'there is something of this name that is not a folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its symbolic links lead in a circle',
  ENOSPC: 'the disk is full',
}

/** Turns a file system error about the home into UnusableHome. */
export async function usingHome<T>(home: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isSystemError(error) ? new UnusableHome(home, error) : error
  }
}
