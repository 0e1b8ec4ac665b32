/**
 * The driver of SQLite for Kysely: one connection, which statements and whole transactions use in turn.
 *
 * The connection is free for the next statement as soon as a commit is in the WAL; the commit itself is acknowledged
 * when the WAL is on the disk (`wal-sync.ts`). That is why the turns are managed here and not by Kysely, which would
 * pass the connection on only after the acknowledgement.
 */
import { closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely'
import { attempt } from '../../../base/node/attempt.ts'
import { StoreUnavailable } from '../../../errors/store-unavailable.ts'
import { type Outcome, type PromptConnection, WithoutStreams } from '../../short-way.ts'
import { Checkpoints } from './checkpoints.ts'
import { explainFault, resultCode, SQLITE_BUSY, SQLITE_NOTADB } from './faults.ts'
import { refuseUnsafeVersion } from './safe-version.ts'
import { hasWritten, run, Statements } from './statements.ts'
import { type SyncFile, WalSync } from './wal-sync.ts'

/** A cache of 32 MiB: a list of 100,000 rows has more pages than the default of 2 MiB holds. */
const PRAGMAS = `
  pragma fullfsync = on;
  pragma checkpoint_fullfsync = on;
  pragma foreign_keys = on;
  pragma cache_size = -32768;
`

/** Without blocking this process: SQLite's own wait would block it. */
const LOCK_PATIENCE_MS = 5_000
/** Another process writes for a fraction of a millisecond, so the next turns of the event loop are tried first. */
const LOCK_TURNS = 20
const LOCK_PAUSE_MS = 1

const BEGIN = CompiledQuery.raw('begin immediate')
const COMMIT = CompiledQuery.raw('commit')

export class SqliteDriver implements Driver {
  readonly #path: string
  readonly #syncFile: SyncFile | undefined
  #connection: Connection | undefined

  constructor(path: string, syncFile?: SyncFile) {
    this.#path = path
    this.#syncFile = syncFile
  }

  async init(): Promise<void> {
    const database = openFile(this.#path)
    try {
      const isWal = await repeatPatiently(async () => prepare(database))
      if (isWal) refuseUnsafeVersion(database)
      const wal = isWal ? new WalSync(`${this.#path}-wal`, this.#syncFile) : undefined
      const connection = new Connection(database, this.#path, wal)
      // A process that was killed may have left commits that are not on the disk (D-471).
      connection.coverOthers()
      await wal?.finish()
      this.#connection = connection
    } catch (error) {
      database.close()
      if (resultCode(error) !== SQLITE_NOTADB) throw error
      throw new StoreUnavailable(`${this.#path} is not a database of Latchkey`, { cause: error })
    }
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#lease()
  }

  /** Runs one statement outside a transaction. */
  runAlone<R>(query: CompiledQuery): Outcome<R> {
    const lease = this.#lease()
    let outcome: Outcome<R> | undefined
    try {
      outcome = lease.run<R>(query)
    } finally {
      if (!(outcome instanceof Promise)) lease.release()
    }
    return outcome instanceof Promise ? outcome.finally(() => lease.release()) : outcome
  }

  async releaseConnection(lease: DatabaseConnection): Promise<void> {
    ;(lease as Lease).release()
  }

  beginTransaction(lease: DatabaseConnection): Promise<void> {
    return (lease as Lease).begin()
  }

  commitTransaction(lease: DatabaseConnection): Promise<void> {
    return (lease as Lease).commit()
  }

  rollbackTransaction(lease: DatabaseConnection): Promise<void> {
    return (lease as Lease).rollback()
  }

  async destroy(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    await connection?.close()
  }

  #lease(): Lease {
    if (this.#connection === undefined) throw new StoreUnavailable(`${this.#path} is not open`)
    return new Lease(this.#connection)
  }
}

/** Returns whether the database has a WAL; one in memory has none, and neither do some on network file systems. */
function prepare(database: DatabaseSync): boolean {
  const mode = database.prepare('pragma journal_mode = wal').get()?.['journal_mode']
  const isWal = mode === 'wal'
  // Without a WAL for us to sync, SQLite itself waits for the disk.
  database.exec(`${PRAGMAS} pragma synchronous = ${isWal ? 'normal' : 'full'}`)
  if (isWal) database.exec('pragma wal_autocheckpoint = 0')
  return isWal
}

/** The connection and what belongs to it. */
class Connection {
  readonly database: DatabaseSync
  readonly wal: WalSync | undefined
  readonly checkpoints: Checkpoints | undefined
  /** Throws if the open file is no longer the one with this name. */
  readonly refuseLostFile: () => void
  #isFileChecked = false
  readonly #others: () => unknown
  /** The commits of other processes that a sync of this one covers. */
  #coveredOthers: unknown
  readonly statements: Statements
  #isTaken = false
  readonly #waiting: (() => void)[] = []

  constructor(database: DatabaseSync, path: string, wal: WalSync | undefined) {
    this.database = database
    this.statements = new Statements(database)
    this.wal = wal
    this.refuseLostFile = watchFile(path)
    this.checkpoints = wal && new Checkpoints(path, (work) => this.#alone(work))
    const version = database.prepare('pragma data_version')
    this.#others = () => attempt(() => version.get()?.['data_version'])
  }

  /**
   * For a statement or transaction that changed nothing: what it saw may be a commit of another process that is not on
   * the disk yet (D-471). The version changes with the commits of others only; undefined if it cannot be read.
   */
  coverOthers(): void {
    const others = this.#others()
    if (others !== undefined && others === this.#coveredOthers) return
    this.#coveredOthers = others
    this.wal?.count()
  }

  /** For reads: once in a turn of the event loop, because it costs as much as a short read. */
  refuseLostFileBeforeRead(): void {
    if (this.#isFileChecked) return
    this.refuseLostFile()
    this.#isFileChecked = true
    setImmediate(() => {
      this.#isFileChecked = false
    })
  }

  /** Returns undefined if the turn was free, so that no promise is made in vain. */
  takeTurn(): Promise<void> | undefined {
    // A turn that ends is passed to the next in line, so it stays taken.
    if (this.#isTaken) return new Promise((begin) => this.#waiting.push(begin))
    this.#isTaken = true
    return undefined
  }

  endTurn(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isTaken = false
    else next()
  }

  /** Returns when everything committed so far is on the disk. */
  async finishCommits(): Promise<void> {
    await this.wal?.finish()
    if (this.wal !== undefined) this.checkpoints?.considerAfter(this.wal.commits)
  }

  async #alone(work: () => Promise<void>): Promise<void> {
    await this.takeTurn()
    try {
      await work()
    } finally {
      this.endTurn()
    }
  }

  async close(): Promise<void> {
    await this.checkpoints?.close()
    await this.wal?.close()
    this.database.close()
  }
}

/** The connection, for one user: a statement, or a transaction. It has its turn until what it wrote is in the WAL. */
class Lease extends WithoutStreams implements PromptConnection {
  readonly #connection: Connection
  #hasTurn = false
  /** Since the last commit. */
  #hasWritten = false

  constructor(connection: Connection) {
    super()
    this.#connection = connection
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.run<R>(query)
  }

  /** Makes no promise if there is nothing to wait for: it would cost more than most statements (D-281). */
  run<R>(query: CompiledQuery): Outcome<R> {
    const waiting = this.#takeTurn()
    return waiting === undefined
      ? this.#runInTurn<R>(query)
      : waiting.then(() => this.#runInTurn<R>(query))
  }

  #runInTurn<R>(query: CompiledQuery): Outcome<R> {
    try {
      return this.#runNow<R>(query)
    } catch (error) {
      // Inside a transaction there is nothing to wait for, and a repeated statement could run after a rollback.
      if (!isBusy(error) || this.#connection.database.isTransaction) throw error
    }
    return this.#runWhenFree<R>(query)
  }

  /** Another process writes. Other statements of this one, which may only read, have their turn meanwhile (D-379). */
  #runWhenFree<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.release()
    return repeatPatiently(async () => {
      await this.#takeTurn()
      try {
        this.#endLeftOver()
        return await this.#runNow<R>(query)
      } catch (error) {
        this.release()
        throw error
      }
    })
  }

  #runNow<R>({ sql, parameters }: CompiledQuery): Outcome<R> {
    const { database, wal } = this.#connection
    const prepared = this.#connection.statements.prepare(sql)
    const { kind } = prepared
    if (!database.isTransaction) {
      if (kind === 'read') this.#connection.refuseLostFileBeforeRead()
      else this.#connection.refuseLostFile()
    }
    if (kind !== 'read') wal?.refuseAfterFailure()
    const result = run<R>(prepared, parameters as SQLInputValue[])
    this.#hasWritten ||= hasWritten(kind, result)
    if (kind === 'read' || database.isTransaction) return result
    if (this.#hasWritten) wal?.count()
    else if (wal !== undefined) this.#connection.coverOthers()
    this.#hasWritten = false
    // The next user continues while this one waits for the disk: for its own commit and for those that it saw.
    this.release()
    return this.#connection.finishCommits().then(() => result)
  }

  async begin(): Promise<void> {
    await this.#takeTurn()
    this.#endLeftOver()
    await this.run(BEGIN)
  }

  /** Before a transaction of our own, another one is open only if its rollback failed, for example on a faulty disk. */
  #endLeftOver(): void {
    const { database } = this.#connection
    if (database.isTransaction) database.exec('rollback')
  }

  async commit(): Promise<void> {
    this.#connection.refuseLostFile()
    await this.run(COMMIT)
  }

  async rollback(): Promise<void> {
    // Without the turn, an open transaction belongs to another user: ours was committed, and only its sync failed.
    // On a full disk SQLite rolls back by itself; rolling back again would hide the original error.
    if (!this.#hasTurn || !this.#connection.database.isTransaction) return
    this.#hasWritten = false
    this.#connection.database.exec('rollback')
  }

  release(): void {
    if (!this.#hasTurn) return
    this.#hasTurn = false
    this.#connection.endTurn()
  }

  /** Returns undefined if there was nothing to wait for. */
  #takeTurn(): Promise<void> | undefined {
    if (this.#hasTurn) return undefined
    const waiting = this.#connection.takeTurn()
    if (waiting === undefined) {
      this.#hasTurn = true
      return undefined
    }
    return waiting.then(() => {
      this.#hasTurn = true
    })
  }
}

function openFile(path: string): DatabaseSync {
  if (path !== ':memory:') {
    try {
      // Create the file here and not by SQLite, to set its mode; SQLite gives the same mode to the files beside it.
      closeSync(openSync(path, 'a', 0o600))
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const sentence =
        code === 'ENOENT'
          ? `the folder of the database ${path} does not exist`
          : `cannot use the database ${path}: ${explainFault(path, error) ?? message}`
      throw new StoreUnavailable(sentence, { cause: error })
    }
  }
  return new DatabaseSync(path, { timeout: 0 })
}

/**
 * A file that was deleted or replaced stays open, and everything written to it is lost when this process ends. So the
 * name is checked before each statement, each transaction and each commit (D-253); that costs a few microseconds.
 */
function watchFile(path: string): () => void {
  if (path === ':memory:') return () => {}
  const find = () => statSync(path, { bigint: true, throwIfNoEntry: false })
  const open = find()
  return () => {
    const current = find()
    if (current !== undefined && current.ino === open?.ino && current.dev === open.dev) return
    throw new StoreUnavailable(
      `the database file ${path} was ${current === undefined ? 'deleted' : 'replaced'} while it was in use; ` +
        'stop the service, put the file back or restore a backup, and start again',
    )
  }
}

/** Repeats the step while another process writes. */
async function repeatPatiently<T>(step: () => Promise<T>): Promise<T> {
  const end = performance.now() + LOCK_PATIENCE_MS
  for (let attempt = 1; ; attempt++) {
    await (attempt <= LOCK_TURNS ? nextTurn() : pause(LOCK_PAUSE_MS))
    try {
      return await step()
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error
    }
  }
}

function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY
}
