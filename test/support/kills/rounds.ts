/**
 * Kills the service again and again while clients work, on each database: after every start, what the clients were
 * answered must hold. D-305, R114.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { rounds } from '../chance/rounds.ts'
import { moveToPostgres } from '../homes/postgres-home.ts'
import { fixPort, useWorkers } from '../process/child-home.ts'
import { type ChildService, startChild } from '../process/child-service.ts'
import { preparedHome } from '../process/prepared-home.ts'
import type { Service as RunningService } from '../service.ts'
import { startPostgres } from '../stores/postgres.ts'

export interface Rounds<Answered> {
  /** How many kills an ordinary run has on each database. */
  readonly kills: { readonly sqlite: number; readonly postgres: number }
  /** Works until the service is killed. Returns what the clients know by then. */
  work(service: ChildService, round: number): Promise<Answered>
  /** Checks what the clients know, after the next start. */
  check(service: ChildService, answered: Answered): Promise<void>
  /** Checks all rounds together, after the last one. */
  checkAll?(kills: number): void
}

export function killOnSqlite<Answered>(t: TestContext, all: Rounds<Answered>): Promise<void> {
  return killRounds(t, 'sqlite', all, async () => {})
}

export async function killOnPostgres<Answered>(
  t: TestContext,
  all: Rounds<Answered>,
): Promise<void> {
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  await killRounds(t, 'postgres', all, async (home) => void (await moveToPostgres(home)))
}

async function killRounds<Answered>(
  t: TestContext,
  database: keyof Rounds<Answered>['kills'],
  { kills, work, check, checkAll }: Rounds<Answered>,
  prepare: (home: string) => Promise<void>,
): Promise<void> {
  const home = await preparedHome(t)
  await prepare(home)
  await fixPort(home)
  await useWorkers(home, 2)
  let service = await startChild(t, { home })
  const count = rounds(kills[database])
  for (let round = 0; round < count; round++) {
    const answered = await work(service, round)
    // A home may go from one process to several and back.
    await useWorkers(home, 1 + (round % 2))
    service = await startChild(t, { home })
    await check(service, answered)
  }
  checkAll?.(count)
  assert.equal((await service.stop()).code, 0)
}

/** The service as a client has it that works while the service is killed. */
export type Mortal = Pick<RunningService, 'baseUrl' | 'call'>

/**
 * Runs so many workers at the same time. Each lives again and again until one of them calls `kill`, so that the others are
 * somewhere in the middle. A call that gets no answer, or 503, throws and ends the life of its worker: what it was for may
 * have happened or not.
 */
export async function workUntilKilled(
  service: ChildService,
  workers: number,
  live: (mortal: Mortal, worker: number, kill: () => void) => Promise<void>,
): Promise<void> {
  const mortal = refusing(service)
  let isKilled = false
  const kill = (): void => {
    isKilled = true
    service.process.kill('SIGKILL')
  }
  const work = async (worker: number) => {
    while (!isKilled) {
      try {
        await live(mortal, worker, kill)
      } catch (error) {
        if (error instanceof NotReady) await pause(PAUSE_MILLISECONDS)
        else if (!isKilled || !isConnectionFailure(error)) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
  assert.equal((await service.finished).signal, 'SIGKILL')
}

/** Any other failure is one of the service. */
export function isConnectionFailure(error: unknown): boolean {
  return /^E(?!RR_)/.test((error as NodeJS.ErrnoException).code ?? '')
}

/** D-34, D-250: the answer of an instance that has waited too long for its database, as on an overloaded machine. */
export class NotReady extends Error {}

/** An instance that answers nothing else for so long is not overloaded. */
const PATIENCE_MILLISECONDS = 60_000
const PAUSE_MILLISECONDS = 100

/** Repeats the work while it throws NotReady: what was refused may have happened nevertheless. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof NotReady)) throw error
    }
    await pause(PAUSE_MILLISECONDS)
  }
}

/** The service with calls that throw NotReady. */
export function refusing({ baseUrl, call }: Mortal): Mortal {
  let answeredAt = performance.now()
  return {
    baseUrl,
    async call(path, options) {
      const reply = await call(path, options)
      if (reply.status === 503) {
        assert.ok(performance.now() - answeredAt < PATIENCE_MILLISECONDS, reply.text)
        throw new NotReady(reply.text)
      }
      answeredAt = performance.now()
      return reply
    },
  }
}
