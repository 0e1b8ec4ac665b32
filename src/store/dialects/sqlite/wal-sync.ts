/**
 * Group commit for SQLite (D-278). SQLite writes a commit to the WAL without waiting for the disk
 * (`synchronous = normal`); before the commit is acknowledged, the WAL is synced in the thread pool. All commits that
 * wait at that moment share one sync, and the event loop never waits for the disk.
 *
 * SQLite holds no lock on the WAL file, so a descriptor of our own is safe. SQLite itself syncs the WAL before a
 * checkpoint copies it into the database.
 */
import { close, fdatasync, openSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { StoreUnavailable } from '../../../errors/store-unavailable.ts'

/** Returns when everything written to the file before the call is on the disk. */
export type SyncFile = (descriptor: number) => Promise<void>

const closeFile = promisify(close)

export class WalSync {
  readonly #path: string
  readonly #syncFile: SyncFile
  #file: { readonly descriptor: number; readonly inode: bigint } | undefined
  #commits = 0
  #synced = 0
  #running: Promise<void> | undefined
  #failure: StoreUnavailable | undefined

  /** `path`: the path of the WAL. */
  constructor(path: string, syncFile: SyncFile = promisify(fdatasync)) {
    this.#path = path
    this.#syncFile = syncFile
  }

  /** The number of commits counted. */
  get commits(): number {
    return this.#commits
  }

  /** Counts a commit that is in the WAL. */
  count(): void {
    this.#commits += 1
  }

  /** Returns when every commit counted so far is on the disk. */
  async finish(): Promise<void> {
    const wanted = this.#commits
    while (this.#synced < wanted) {
      this.#running ??= this.#sync().finally(() => {
        this.#running = undefined
      })
      await this.#running
    }
  }

  /**
   * Throws if a sync has failed. After that, the system may consider lost data written, and a later commit could not be
   * read without the lost one. So nothing more may be written (D-278).
   */
  refuseAfterFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  async close(): Promise<void> {
    await this.#running?.catch(() => {})
    if (this.#file !== undefined) await closeFile(this.#file.descriptor)
    this.#file = undefined
  }

  async #sync(): Promise<void> {
    this.refuseAfterFailure()
    const covered = this.#commits
    try {
      await this.#syncFile(this.#descriptor())
    } catch (cause) {
      this.#failure = new StoreUnavailable(
        `the disk does not accept what was written to ${this.#path}; check the disk and start again`,
        { cause },
      )
      throw this.#failure
    }
    this.#synced = covered
  }

  /** Reopens the file if another one has taken its name. */
  #descriptor(): number {
    const { ino } = statSync(this.#path, { bigint: true })
    if (this.#file !== undefined && this.#file.inode !== ino) {
      close(this.#file.descriptor, () => {})
      this.#file = undefined
    }
    // Windows syncs only files that are open for writing.
    this.#file ??= { descriptor: openSync(this.#path, 'r+'), inode: ino }
    return this.#file.descriptor
  }
}
