/**
 * Why a SQLite file cannot be used, in words for the operator: the texts of SQLite and of the system name neither the
 * cause nor the remedy (D-250).
 */
import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'

/** SQLite result codes; the upper bits only refine them. */
export const SQLITE_BUSY = 5
export const SQLITE_NOTADB = 26
const SQLITE_PERM = 3
const SQLITE_READONLY = 8
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14

export function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

const { R_OK, W_OK, X_OK } = constants
const READ_ONLY =
  'its file system is read-only; make it writable, or set "db" to a file on another one'
const FULL = 'the disk is full; free some space'
const CORRECT_ACCESS = 'run this as its owner, or correct its owner (chown) or mode (chmod)'

const BY_SYSTEM: Readonly<Record<string, string>> = {
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its symbolic links lead in a circle',
  EACCES: `this user may not read and write it; ${CORRECT_ACCESS}`,
  EPERM: `this user may not read and write it; ${CORRECT_ACCESS}`,
  EROFS: READ_ONLY,
  ENOSPC: FULL,
  EMFILE:
    'this process has too many files open; raise its limit (ulimit -n, or LimitNOFILE= of systemd)',
}

/** Returns undefined if there is nothing better than the error's own text. */
export function explainFault(path: string, error: unknown): string | undefined {
  switch (resultCode(error)) {
    case undefined:
      return BY_SYSTEM[codeOf(error)]
    case SQLITE_FULL:
      return FULL
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return whyUnwritable(path)
    default:
      return undefined
  }
}

/** SQLite also writes files beside the database, and its error does not say which of them it is. */
function whyUnwritable(path: string): string | undefined {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const code = refusalOf(file, R_OK | W_OK)
    if (code === 'EROFS') return READ_ONLY
    if (code === 'EACCES') return `this user may not read and write ${file}; ${CORRECT_ACCESS}`
  }
  const folder = dirname(path)
  return refusalOf(folder, W_OK | X_OK) === 'EACCES'
    ? `this user may not create files in ${folder}, as SQLite must; ${CORRECT_ACCESS}`
    : undefined
}

function refusalOf(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    return codeOf(error)
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? ''
}
