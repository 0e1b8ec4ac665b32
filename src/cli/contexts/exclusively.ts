/**
 * Mutual exclusion between processes. The lock belongs to the operating system, held through SQLite: it ends with its
 * process, however that ends, so no lock is ever stale (D-165).
 */
import { chmodSync, closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { writingFile } from '../../app/installation/file-faults.ts'
import { systemClock } from '../../base/time/clock.ts'
import { CommandFailed, EXIT } from '../terminal/io.ts'

const SQLITE_BUSY = 5
const PAUSE_MILLISECONDS = 25
/** Longer than a refresh with all its retries (D-150). */
const PATIENCE_MILLISECONDS = 150_000

/** Runs `work` while nothing else, in this process or another, holds `file`, which is created and stays empty. */
export async function exclusively<T>(file: string, work: () => Promise<T>): Promise<T> {
  await writingFile(file, async () => makePrivate(file))
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    const begun = systemClock.uptime()
    while (!tryToLock(database)) {
      if (systemClock.uptime() - begun > PATIENCE_MILLISECONDS) {
        throw new CommandFailed(`another process keeps the lock on ${file}`, EXIT.again)
      }
      await setTimeout(PAUSE_MILLISECONDS)
    }
    return await work()
  } finally {
    database.close()
  }
}

function tryToLock(database: DatabaseSync): boolean {
  try {
    database.exec('begin exclusive')
    return true
  } catch (error) {
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY) return false
    throw error
  }
}

/**
 * Creates the file here instead of leaving it to SQLite, because of its mode (R063). Never open a file that exists:
 * closing it would release the lock that this process may hold on it (POSIX.1-2024, fcntl). Synchronous, so that
 * nothing can take the lock between creating and closing the file.
 */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // An older version left the mode to the umask.
    chmodSync(file, 0o600)
  }
}
