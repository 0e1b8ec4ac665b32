/**
 * Tells the controller what this router has applied, and which sessions it has admitted: D-381, D-383. News are sent at
 * once, nothing new every ten seconds, and never more than once a second. With an older controller, which sends
 * no marks, it is silent. A confirmation that fails is made again with the next one; it never affects a check.
 */
import { Agent } from 'node:https'
import { base64url } from '../base/encoding.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Duration, milliseconds, minutes, seconds } from '../base/time/duration.ts'
import { MOST_REPORTED_SESSIONS } from '../protocol/limits.ts'
import { ROUTER_CONFIRMATIONS_PATH } from './paths.ts'
import { postToController, type RouterIdentity } from './router-identity.ts'

export interface Confirmer {
  /** The name of this program: another one with the same identity has another name. */
  readonly run: string
  /** Everything that came before this mark has been applied. */
  applied(mark: string): void
  /** A connection of this session was admitted. */
  admitted(sessionId: string): void
  stop(): void
}

const LEAST_PAUSE: Duration = seconds(1)
/** Without news. */
const REPEAT_EVERY: Duration = seconds(10)
const PATIENCE: Duration = seconds(5)
/** A session is reported again after this. */
const REPORT_AGAIN: Duration = minutes(5)
const MOST_SESSIONS = 10_000
const RUN_BYTES = 12

export function createConfirmer(deps: {
  readonly controller: URL
  readonly identity: RouterIdentity
  readonly clock: Pick<Clock, 'uptime'>
  readonly random: Random
  readonly log: Log
}): Confirmer {
  const { controller, identity, clock, log } = deps
  const url = new URL(ROUTER_CONFIRMATIONS_PATH, controller)
  const run = base64url(deps.random.bytes(RUN_BYTES))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  /** When each session was last reported, oldest first; undefined while it has not been. */
  const sessions = new Map<string, Duration | undefined>()
  const unreported = new Set<string>()
  let mark: string | undefined
  let confirmed: string | undefined
  let sentAt = milliseconds(Number.NEGATIVE_INFINITY)
  let timer: NodeJS.Timeout | undefined
  let isSending = false
  let isStopped = false

  function schedule(): void {
    if (isStopped || isSending || mark === undefined) return
    const hasNews = mark !== confirmed || unreported.size > 0
    const pause = hasNews ? LEAST_PAUSE : REPEAT_EVERY
    clearTimeout(timer)
    timer = setTimeout(() => void send(), Math.max(0, sentAt + pause - clock.uptime()))
    timer.unref()
  }

  async function send(): Promise<void> {
    const sent = mark
    if (sent === undefined) return
    isSending = true
    sentAt = clock.uptime()
    const sessionIds = [...unreported].slice(0, MOST_REPORTED_SESSIONS)
    try {
      await postToController(url, JSON.stringify({ run, mark: sent, sessionIds }), {
        identity,
        agent,
        patience: PATIENCE,
      })
      confirmed = sent
      for (const id of sessionIds) {
        unreported.delete(id)
        sessions.set(id, sentAt)
      }
    } catch (error) {
      // The controller shows this router as unconfirmed; that is right.
      if (!isStopped) log.debug({ err: error }, 'the controller did not take a confirmation')
    } finally {
      isSending = false
      schedule()
    }
  }

  return {
    run,

    applied(next) {
      if (next === mark) return
      mark = next
      schedule()
    },

    admitted(id) {
      const before = sessions.get(id)
      const isRecent = before !== undefined && clock.uptime() - before < REPORT_AGAIN
      if (isRecent || unreported.has(id)) return
      for (const [oldest] of sessions) {
        if (sessions.size < MOST_SESSIONS) break
        sessions.delete(oldest)
        unreported.delete(oldest)
      }
      sessions.delete(id)
      sessions.set(id, undefined)
      unreported.add(id)
      // Soon: a session that has ended is not reported any more.
      if (unreported.size === 1) schedule()
    },

    stop() {
      isStopped = true
      clearTimeout(timer)
      agent.destroy()
    },
  }
}
