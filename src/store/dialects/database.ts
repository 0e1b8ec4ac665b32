/**
 * What differs between the databases. Everything else in the store is written once, for both.
 */
import type { Dialect, Kysely, QueryExecutorProvider, Transaction } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import type { BeginSession, SpendRefreshToken } from '../../domain/tokens/stores.ts'
import type { KeptEvent } from '../events.ts'
import type { Tables } from '../tables.ts'
import type { ListFacts } from './list-facts.ts'
import type { WholeFacts } from './whole-facts.ts'

export interface Database {
  /** How it is named to the operator: the path, or host and name. Never a password. */
  readonly name: string
  readonly dialect: Dialect
  /** Connections of their own, for what must not wait behind the work of callers (D-297); undefined if there are none. */
  readonly dialectAside?: Dialect
  /** The definition of a key column that numbers rows as they are inserted and uses no number twice. */
  readonly sequenceKey: string
  /** The type of a text column that sorts by code point, regardless of the server's locale. */
  readonly sortedText: string
  /** The kind of a table whose rows need not survive a crash (D-450). */
  readonly passingTable: 'table' | 'unlogged table'
  /** Whether a transaction waits for the one before it anyway, so that both may share one (D-373). */
  readonly hasOneWriter: boolean
  readonly lists: ListFacts
  readonly whole: WholeFacts
  /** Makes the transaction that migrates exclusive: other instances wait. */
  lockMigrations(transaction: QueryExecutorProvider): Promise<void>
  /** The current time of the server; undefined if the database uses the clock of this machine. */
  readTime(db: QueryExecutorProvider): Promise<Instant | undefined>
  /**
   * Whether an error of the driver means that the database cannot be used now, in contrast to a statement that it
   * refuses: the same call may succeed later, or on another server (D-250).
   */
  isTrouble(error: unknown): boolean
  /** Tells the operator why the database cannot be used, and what to do; undefined if the error's own text is best. */
  readonly explain?: (error: unknown) => string | undefined
  /** Adds what belongs to this kind of database and is no data; the last step of the migrations, at every start. */
  completeSchema(transaction: QueryExecutorProvider): Promise<void>
  /**
   * Called once the tables are up to date. From then on, a connection whose server does not respond is dropped (until
   * then a statement may take any time), and so is one to a server with another history (D-296).
   */
  beginService(): Promise<void>
  /** Missing if the database cannot cheaply tell whether anything was committed (D-306). */
  readonly openVersion?: () => OpenVersion
  /** Missing if the database cannot tell by itself that something has changed (D-298). */
  readonly changes?: ChangeNotices
  readonly spendRefreshToken: Written<SpendRefreshToken>
  readonly beginSession: Written<BeginSession>
  /** Removes the row values that a driver error quotes, so that logs can show the error. */
  withoutContent(error: unknown): void
}

type Write = (...args: never[]) => Promise<unknown>

/** In one statement where round trips count (D-322, D-328), in a transaction where they do not. */
export type Written<W extends Write> =
  | { readonly inOneStatement: InOneStatement<W> }
  | { readonly inOneTurn: InOneTurn<W> }

/** `onEvent` is called if the event was recorded. */
export type InOneStatement<W extends Write> = (
  db: Kysely<Tables>,
  onEvent: (event: KeptEvent) => void,
  ...args: Parameters<W>
) => ReturnType<W>

/** In the given transaction, without waiting for anything, so that it may be repeated in another one (D-466). */
export type InOneTurn<W extends Write> = (
  tx: Transaction<Tables>,
  onEvent: (event: KeptEvent) => void,
  ...args: Parameters<W>
) => Awaited<ReturnType<W>>

export interface ChangeNotices {
  /**
   * Calls the listener when another instance has changed something that copies are made of, from now until the database
   * is closed.
   */
  follow(listener: () => void): void
  /** Whether the listener will be called at once. */
  isPushed(): boolean
  /** Whether it was called before, and what calls it cannot stop unnoticed. Missing if it can, as a connection can. */
  isProven?(): boolean
}

export interface OpenVersion {
  /**
   * Returns what differs from the last one if anything was committed since, by any process, or a promise of it.
   * Undefined if that is not known.
   */
  current(): unknown
  /** Call it before the database is closed. */
  close(): void
}
