/**
 * How a process learns at once that another one has written to a SQLite file: the system reports writes to its WAL
 * (D-364). It watches only after some time without a commit, and stops at the first report, so that a busy database
 * causes none. Nothing depends on a report, because readers also look by themselves.
 */
import { type FSWatcher, watch } from 'node:fs'
import { type Duration, milliseconds, seconds } from '../../../base/time/duration.ts'
import type { ChangeNotices } from '../database.ts'

/** How long nothing must have been committed before the file is watched. Until then readers look often. */
const QUIET: Duration = seconds(2)
/** A report arrives in the turn of the event loop after the write. */
const LATE: Duration = milliseconds(500)

export type WatchFile = (
  path: string,
  onWrite: () => void,
  onError: () => void,
) => { close(): void }

export class SqliteNotices implements ChangeNotices {
  readonly #path: string
  readonly #watchFile: WatchFile
  readonly #now: () => number
  #listener: (() => void) | undefined
  #watcher: { close(): void } | undefined
  #version: unknown
  #changedAt: number
  /** When a commit was seen that has not been reported. */
  #unreportedAt: number | undefined
  /** Whether writes are not reported on this file system. */
  #isDeaf = false
  #hasReported = false

  constructor(path: string, watchFile: WatchFile = watchWrites, now = () => performance.now()) {
    this.#path = path
    this.#watchFile = watchFile
    this.#now = now
    this.#changedAt = now()
  }

  follow(listener: () => void): void {
    this.#listener = listener
  }

  isPushed(): boolean {
    return this.#watcher !== undefined && this.#unreportedAt === undefined
  }

  isProven(): boolean {
    return this.#hasReported && !this.#isDeaf
  }

  /** Takes the version that was just read, and returns the one that holds: it may have to read again. */
  judge(version: unknown, read: () => unknown): unknown {
    const now = this.#now()
    if (version === undefined) this.#rest()
    else if (version !== this.#version) {
      this.#version = version
      this.#changedAt = now
      if (this.#watcher !== undefined) this.#unreportedAt ??= now
    } else if (this.#unreportedAt !== undefined && now - this.#unreportedAt >= LATE) {
      this.#isDeaf = true
      this.#rest()
    } else if (this.#watcher === undefined && now - this.#changedAt >= QUIET && this.#begin()) {
      // What was committed before the watch began is not reported.
      const again = read()
      if (again !== version) this.#rest()
      return again
    }
    return version
  }

  close(): void {
    this.#listener = undefined
    this.#rest()
  }

  #begin(): boolean {
    if (this.#listener === undefined || this.#isDeaf) return false
    const lookAgain = () => {
      this.#rest()
      this.#listener?.()
    }
    const onWrite = () => {
      this.#hasReported = true
      lookAgain()
    }
    try {
      this.#watcher = this.#watchFile(`${this.#path}-wal`, onWrite, lookAgain)
    } catch {
      this.#rest()
    }
    return this.#watcher !== undefined
  }

  #rest(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#unreportedAt = undefined
    this.#changedAt = this.#now()
  }
}

/** Throws if the system cannot watch the file. */
function watchWrites(path: string, onWrite: () => void, onError: () => void): FSWatcher {
  return watch(path, { persistent: false }, onWrite).on('error', onError)
}
