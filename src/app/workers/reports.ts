/**
 * What the supervisor tells the workers: at once what another worker has just committed, and regularly what it has read
 * from the database itself. So a change that a worker answered is in effect in every worker, and the copies of all
 * workers are as fresh as that of the supervisor, without a poll of their own. D-289.
 */
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, milliseconds, seconds } from '../../base/time/duration.ts'
import { endsWithin } from '../../base/time/within.ts'
import type { EndingRow } from '../../domain/sessions/ending/ended-sessions.ts'
import type { News, Others } from '../../domain/sessions/ending/tell-copies.ts'
import type { Core } from '../core.ts'
import { authoritiesOf, keysOf, machineTime } from './fingerprints.ts'
import type { State } from './messages.ts'
import type { RunningWorker } from './pool.ts'

/**
 * Much less than the age at which a copy is too old to be trusted (D-34). With a beat of two seconds, each one is followed
 * by a report, however late the one before it was (D-298).
 */
const AT_LEAST_EVERY: Duration = milliseconds(1_100)
/** To a worker without connections: it judges no call, but must still be there (D-294, D-348). */
const WITHOUT_CONNECTIONS: Duration = milliseconds(9_900)

/** A worker that does not answer hears the same in the next report; its caller does not wait for it any longer. */
const NEWS_LIMIT: Duration = seconds(1)

/** Much longer than anything that may occupy an event loop. A worker that is silent for so long is replaced (D-294). */
const SILENCE_LIMIT: Duration = seconds(20)

export function createReports(deps: {
  readonly everyone: () => readonly RunningWorker[]
  readonly clock: Pick<Clock, 'uptime'>
  readonly log: Pick<Log, 'warn'>
  readonly silenceLimit?: Duration
}) {
  const { everyone, clock, log, silenceLimit = SILENCE_LIMIT } = deps
  let core: Core | undefined
  let seen: ReadonlySet<number> = new Set()
  let unsent: EndingRow[] = []
  let sentVersions: string | undefined
  /** The last report to each worker. */
  const sent = new WeakMap<RunningWorker, { readonly at: Duration }>()
  /** Those that had no connection when they answered it, and got none since. */
  const idle = new WeakSet<RunningWorker>()

  async function tell(recipients: readonly RunningWorker[], news: News): Promise<void> {
    await Promise.all(
      recipients.map(async ({ number, channel }) => {
        // A worker that is gone has nothing to learn: its successor reads the database.
        const told = channel.ask('news', news)
        if (await endsWithin(NEWS_LIMIT, told)) return
        log.warn({ silentWorker: number }, 'a worker did not confirm what it was told')
      }),
    )
  }

  async function hasAnswered(told: Promise<void>): Promise<boolean> {
    if (await endsWithin(silenceLimit, told)) return true
    // Time to read what has arrived: this process may itself have been suspended meanwhile.
    return endsWithin(milliseconds(silenceLimit / 10), told)
  }

  function isDue(
    worker: RunningWorker,
    pause = idle.has(worker) ? WITHOUT_CONNECTIONS : AT_LEAST_EVERY,
  ): boolean {
    const last = sent.get(worker)
    return last === undefined || clock.uptime() - last.at >= pause
  }

  /** To these workers, or to all of them if there is something new. */
  function send(due: readonly RunningWorker[]): void {
    if (core === undefined) return
    const state: Omit<State, 'sentAt' | 'endings'> = {
      rules: core.ports.rules.state(),
      keys: keysOf(core),
      authorities: authoritiesOf(core),
    }
    const versions = [state.rules?.version, state.keys, state.authorities].join(' ')
    const isNew = unsent.length > 0 || versions !== sentVersions
    const rows = unsent
    unsent = []
    sentVersions = versions
    const age = core.ports.endedSessions.age()
    const endings = age === undefined ? undefined : { rows, age: milliseconds(age) }
    for (const worker of isNew ? everyone() : due) sendTo(worker, { ...state, endings })
  }

  function sendTo(worker: RunningWorker, state: Omit<State, 'sentAt'>): void {
    const report = { at: clock.uptime() }
    sent.set(worker, report)
    idle.delete(worker)
    // A worker that fails to follow says so in its log, and gets the versions again with the next report.
    const told = worker.channel.ask('state', { ...state, sentAt: machineTime() })
    const noted = told.then(({ connections }) => {
      if (connections === 0 && sent.get(worker) === report) idle.add(worker)
    })
    void hasAnswered(noted).then((isWell) => isWell || worker.replace())
  }

  const others: Others = { tell: (news) => tell(everyone(), news) }

  return {
    /** The workers, as seen from the use cases of this process. */
    others,

    /** From now on, news and reports come from these copies. */
    follow(given: Core): void {
      core = given
    },

    /** Every read repeats an overlap; only new rows are sent on. */
    noteEndings(rows: readonly EndingRow[]): void {
      for (const row of rows) if (!seen.has(row.sequence)) unsent.push(row)
      seen = new Set(rows.map(({ sequence }) => sequence))
    },

    /** What one worker has committed: for this process and all other workers. */
    async pass(from: number, news: News): Promise<void> {
      const recipients = everyone().filter(({ number }) => number !== from)
      const { endings, hasNewRules, hasNewKeys } = news
      for (const ending of endings) core?.ports.endedSessions.add(ending)
      await Promise.all([
        tell(recipients, news),
        hasNewRules ? core?.ports.rules.refresh() : undefined,
        hasNewKeys ? core?.ports.signingKeys.refresh() : undefined,
      ])
    },

    /** Sends what was read, if there is something new or the last report is some time ago. */
    report(outcome: 'read' | 'unchanged' = 'read'): void {
      const due = everyone().filter((worker) => isDue(worker))
      if (outcome === 'read' || due.length > 0 || unsent.length > 0) send(due)
    },

    /** Call it before a worker gets a connection: while it had none, it had hardly any reports. */
    beforeConnection(worker: RunningWorker): void {
      idle.delete(worker)
      if (isDue(worker)) send([worker])
      // Another object: the answer to an earlier report does not count, because it may be older than the connection.
      const last = sent.get(worker)
      if (last !== undefined) sent.set(worker, { ...last })
    },

    /** Sends a report to those workers that had none for a while, because they are idle. */
    renew(): void {
      const outdated = everyone().filter((worker) => isDue(worker, AT_LEAST_EVERY))
      if (outdated.length > 0) send(outdated)
    },
  }
}
