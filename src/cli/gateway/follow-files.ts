/**
 * Notices that files have changed, by asking for their times: it works on every file system, and for files that are
 * replaced or linked elsewhere. D-396.
 */
import { stat } from 'node:fs/promises'

/** Returns a function that tells whether a file changed since its last call; the first call only looks. */
export function followFiles(files: () => readonly string[]): () => Promise<boolean> {
  let seen: string | undefined
  return async () => {
    const now = (await Promise.all(files().map(stampOf))).join('\n')
    const before = seen
    seen = now
    return before !== undefined && before !== now
  }
}

async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file)
    return `${file} ${mtimeMs}/${size}/${ino}`
  } catch (error) {
    return `${file} ${(error as NodeJS.ErrnoException).code}`
  }
}
