/** File system errors in plain words. Their own texts name system calls and temporary files. */
import { RefusedStart } from './private-files.ts'

const BOTH: Readonly<Record<string, string>> = {
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its symbolic links lead in a circle',
}
const READING: Readonly<Record<string, string>> = {
  ...BOTH,
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
}
export const WRITING: Readonly<Record<string, string>> = {
  ...BOTH,
  ENOENT: 'the folder does not exist',
  EEXIST: 'something that is not a folder is in the way',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
}

const EITHER: Readonly<Record<string, string>> = {
  ...WRITING,
  ENOENT: 'it does not exist',
  EACCES: 'this user may not access it',
  EPERM: 'this user may not access it',
}

/** Returns a sentence with the file and the problem; the error's own text if there is no better one. */
export function explainSystemError(error: NodeJS.ErrnoException): string {
  const why = EITHER[codeOf(error)]
  return why === undefined || error.path === undefined
    ? error.message
    : `${error.path} cannot be used: ${why}`
}

/** Returns why a file cannot be read; undefined for other errors. */
export function whyUnreadable(error: unknown): string | undefined {
  return READING[codeOf(error)]
}

/** Throws RefusedStart with the path if the file system refuses; other errors unchanged. */
export function readingFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  return refusing(`${path} cannot be read`, READING, work)
}

/** Throws RefusedStart with the path if the file system refuses; other errors unchanged. */
export function writingFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  return refusing(`${path} cannot be written`, WRITING, work)
}

async function refusing<T>(
  what: string,
  reasons: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const why = reasons[codeOf(error)]
    if (why === undefined) throw error
    throw new RefusedStart(`${what}: ${why}`, { cause: error })
  }
}

function codeOf(error: unknown): string {
  return (isSystemError(error) && error.code) || ''
}

/** Whether a call of the operating system failed. Its message names the call, and the file or the address. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
