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

/** Much less than the age at which a copy is too old to be trusted (D-34). */
const AT_LEAST_EVERY: Duration = seconds(2)

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
  let sent: { readonly versions: string; readonly at: Duration } | undefined

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
      unsent.push(...rows.filter(({ sequence }) => !seen.has(sequence)))
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
      const isDue = sent === undefined || clock.uptime() - sent.at >= AT_LEAST_EVERY
      if (core === undefined || (!isDue && outcome === 'unchanged' && unsent.length === 0)) return
      const { endedSessions, rules } = core.ports
      const age = endedSessions.age()
      const state: Omit<State, 'sentAt' | 'endings'> = {
        rules: rules.state(),
        keys: keysOf(core),
        authorities: authoritiesOf(core),
      }
      const versions = [state.rules?.version, state.keys, state.authorities].join(' ')
      if (!isDue && unsent.length === 0 && versions === sent?.versions) return
      const rows = unsent
      unsent = []
      sent = { versions, at: clock.uptime() }
      const endings = age === undefined ? undefined : { rows, age: milliseconds(age) }
      for (const { channel, replace } of everyone()) {
        // A worker that fails to follow says so in its log, and gets the versions again with the next report.
        const told = channel.ask('state', { ...state, endings, sentAt: machineTime() })
        void hasAnswered(told).then((isWell) => isWell || replace())
      }
    },
  }
}
