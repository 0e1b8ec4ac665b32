/**
 * Runs the checkpoints of a SQLite database in a separate thread: copying the WAL into the database waits for the disk,
 * and the event loop must not (D-278). The thread starts with the first checkpoint, so a service that hardly writes has
 * none.
 */
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, Worker, workerData } from 'node:worker_threads'

/** A commit writes about ten pages; SQLite's own limit is a WAL of 1,000 pages. */
const COMMITS_BETWEEN = 128

/**
 * How long the second pass waits for other processes, which write and read for a fraction of a millisecond. It is not
 * longer, because this process waits too; a backup that is being made keeps a checkpoint from starting the WAL again.
 */
const WAIT_MS = 20

/** The mode of `pragma wal_checkpoint`. Only `restart` waits for others, and keeps them from writing. */
type Mode = 'passive' | 'restart'

const THREAD = `
  const { workerData } = require('node:worker_threads')
  import(workerData.module).then(({ serveCheckpoints }) => serveCheckpoints())
`

export class Checkpoints {
  readonly #path: string
  readonly #alone: (work: () => Promise<void>) => Promise<void>
  #thread: Worker | undefined
  #running: Promise<void> | undefined
  #last = 0

  /** `alone` runs the work while no statement of this process runs. */
  constructor(path: string, alone: (work: () => Promise<void>) => Promise<void>) {
    this.#path = path
    this.#alone = alone
  }

  /** Starts a checkpoint if enough was committed since the last one. */
  considerAfter(commits: number): void {
    if (this.#running !== undefined || commits - this.#last < COMMITS_BETWEEN) return
    this.#last = commits
    this.#running = this.#checkpoint()
      // A checkpoint that fails loses nothing: the next one copies the same pages, and so does closing the database.
      .catch(() => {})
      .finally(() => {
        this.#running = undefined
      })
  }

  async close(): Promise<void> {
    await this.#running
    await this.#thread?.terminate()
    this.#thread = undefined
  }

  /**
   * The first pass copies nearly everything while others write. The second one finds few pages and copies them while no
   * process writes, so that SQLite can start again at the beginning of the WAL; otherwise the WAL would grow under load.
   */
  async #checkpoint(): Promise<void> {
    await this.#pass('passive')
    await this.#alone(() => this.#pass('restart'))
  }

  async #pass(mode: Mode): Promise<void> {
    if (this.#thread === undefined) {
      const data = { module: import.meta.url, path: this.#path }
      const thread = new Worker(THREAD, { eval: true, workerData: data })
      thread.unref()
      thread.on('exit', () => {
        if (this.#thread === thread) this.#thread = undefined
      })
      this.#thread = thread
    }
    const thread = this.#thread
    thread.postMessage(mode)
    const { promise, reject } = Promise.withResolvers<never>()
    const ended = () => reject(new Error('the thread for checkpoints has ended'))
    thread.once('exit', ended)
    try {
      await Promise.race([once(thread, 'message'), promise])
    } finally {
      thread.off('exit', ended)
    }
  }
}

/** Runs in the thread. */
export function serveCheckpoints(): void {
  const { path } = workerData as { readonly path: string }
  const database = new DatabaseSync(path, { timeout: WAIT_MS })
  database.exec(
    'pragma synchronous = normal; pragma fullfsync = on; pragma checkpoint_fullfsync = on',
  )
  parentPort?.on('message', (mode: Mode) => {
    try {
      database.exec(`pragma wal_checkpoint(${mode})`)
    } catch {
      // Throwing would end the whole process. The next commit reports a faulty disk.
    }
    parentPort?.postMessage('done')
  })
}
