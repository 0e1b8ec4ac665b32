/**
 * Transactions that wait at the same moment share one of the database, and with it one commit and one sync (D-373). Each
 * is between savepoints of its own, unless all of them could be repeated (D-466). What they change is mostly on the same
 * pages, which are then written once.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CompiledQuery, type Kysely, type Transaction } from 'kysely'
import { inTransaction, runCompiled } from '../short-way.ts'
import type { Tables } from '../tables.ts'

export type InTransaction = <T>(work: Work<T>) => Promise<T>
type Work<T> = (tx: Transaction<Tables>) => Promise<T>
/** Work that waits for nothing and may be repeated in another transaction (D-466). */
type PromptWork<T> = (tx: Transaction<Tables>) => T

export interface SharedTransactions {
  readonly run: InTransaction
  readonly runPrompt: <T>(work: PromptWork<T>) => Promise<T>
}

/** So many take about a millisecond: for that long, the process answers nothing else (D-380). */
const MOST = 8

const SAVE = CompiledQuery.raw('savepoint one')
const RELEASE = CompiledQuery.raw('release one')
const UNDO = CompiledQuery.raw('rollback to one')

interface Waiting {
  readonly isPrompt: boolean
  run(tx: Transaction<Tables>): Settle | Promise<Settle>
  reject(error: unknown): void
}

/** Passes the outcome on to the caller. */
type Settle = () => void

/** For a database with one writer. The next ones begin when the last ones are on the disk, or when many wait. */
export function sharedTransactions(db: Kysely<Tables>): SharedTransactions {
  const waiting: Waiting[] = []
  let isRunning = false
  let whenMany = Promise.withResolvers<void>()

  async function runAll(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      // Whatever else is ready in this turn of the event loop comes along.
      await nextTurn()
      const batch = waiting.splice(0, MOST)
      whenMany = Promise.withResolvers()
      if (waiting.length >= MOST) whenMany.resolve()
      // A slow disk must not make many wait for few: the commits of several batches share its next sync.
      await Promise.race([runBatch(batch), whenMany.promise])
    }
    isRunning = false
  }

  async function runBatch(batch: readonly Waiting[]): Promise<void> {
    const refusal = await runTogether(db, batch)
    // The database could not be used for seconds: the others need not find that out one after the other.
    if (refusal !== undefined) for (const { reject } of waiting.splice(0)) reject(refusal.reason)
  }

  function wait(one: Waiting): void {
    waiting.push(one)
    if (waiting.length >= MOST) whenMany.resolve()
    if (!isRunning) void runAll()
  }

  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        const run: Waiting['run'] = (tx) => work(tx).then((outcome) => () => resolve(outcome))
        wait({ isPrompt: false, run, reject })
      }),
    runPrompt: (work) =>
      new Promise((resolve, reject) => {
        const run: Waiting['run'] = (tx) => {
          const outcome = work(tx)
          return () => resolve(outcome)
        }
        wait({ isPrompt: true, run, reject })
      }),
  }
}

/**
 * Never throws: each caller gets its own outcome, or the reason why nothing was committed. Returns the reason if the
 * transaction could not even begin.
 */
async function runTogether(
  db: Kysely<Tables>,
  batch: readonly Waiting[],
): Promise<{ readonly reason: unknown } | undefined> {
  // Savepoints keep a copy of each page that is written after them, which takes as long as the statements.
  const isSaved = batch.length > 1 && batch.some(({ isPrompt }) => !isPrompt)
  let hasBegun = false
  let isCommitting = false
  try {
    const settled = await inTransaction(db, async (tx) => {
      hasBegun = true
      const outcomes: Settle[] = []
      for (const one of batch) {
        const outcome = isSaved ? runBetweenSavepoints(tx, one) : one.run(tx)
        outcomes.push(outcome instanceof Promise ? await outcome : outcome)
      }
      isCommitting = true
      return outcomes
    })
    for (const settle of settled) settle()
  } catch (reason) {
    if (hasBegun && !isCommitting && !isSaved && batch.length > 1) return runOneByOne(db, batch)
    for (const { reject } of batch) reject(reason)
    if (!hasBegun) return { reason }
  }
  return undefined
}

/** One of them has failed, and everything was rolled back: repeated alone, it fails alone. */
async function runOneByOne(
  db: Kysely<Tables>,
  batch: readonly Waiting[],
): Promise<{ readonly reason: unknown } | undefined> {
  for (const [i, one] of batch.entries()) {
    const refusal = await runTogether(db, [one])
    if (refusal === undefined) continue
    for (const { reject } of batch.slice(i + 1)) reject(refusal.reason)
    return refusal
  }
  return undefined
}

/** Throws if nothing in the transaction can be kept: after some errors, SQLite has rolled back all of it. */
async function runBetweenSavepoints(
  tx: Transaction<Tables>,
  { run, reject }: Waiting,
): Promise<Settle> {
  await runCompiled(tx, SAVE)
  let settle: Settle
  try {
    settle = await run(tx)
  } catch (error) {
    try {
      await runCompiled(tx, UNDO)
    } catch {
      throw error
    }
    settle = () => reject(error)
  }
  await runCompiled(tx, RELEASE)
  return settle
}
