/**
 * Posts links to the receiver of the operator, signed as Standard Webhooks defines it (D-378): `webhook-id` is the same
 * for every attempt, and the signature covers id, time and body. The answer to the administrator never waits for it.
 * Notices wait in memory, because a link is stored nowhere: a restart loses those that were not delivered yet.
 */
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, minutes, seconds } from '../../base/time/duration.ts'
import { epochSeconds, type Instant, toRfc3339 } from '../../base/time/instant.ts'
import type { Webhook } from '../../config/config.ts'
import type { LinkNotice } from '../../domain/enrollments/links/notice.ts'
import { createPostJsonText } from '../../outbound/post-json.ts'

/** For one attempt, with everything that the receiver does. */
const TIME_LIMIT: Duration = seconds(10)
/** Before each further attempt: about an hour in all. */
const PAUSES: readonly Duration[] = [seconds(5), seconds(30), minutes(2), minutes(10), minutes(45)]
/** More are given up at once, so that a receiver that is down costs bounded memory and connections. */
const MOST_WAITING = 500

/** How a delivery ended. `why`: the reason for giving up; undefined if the receiver took it. */
export interface Delivery {
  readonly attempts: number
  readonly why: string | undefined
}

export interface Notifier {
  send(notice: LinkNotice): void
  /** How many notices wait for another attempt. */
  failing(): number
  /** Ends the pauses and the attempts. */
  stop(): Promise<void>
}

export interface NotifierParts {
  readonly webhook: Webhook
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Called once for each notice, unless the service stops first. */
  readonly onEnd: (notice: LinkNotice, delivery: Delivery) => Promise<void>
  readonly timeLimit?: Duration
  readonly pauses?: readonly Duration[]
}

export function createNotifier(parts: NotifierParts): Notifier {
  const { webhook, clock, random, log, onEnd, timeLimit = TIME_LIMIT, pauses = PAUSES } = parts
  const post = createPostJsonText({ endpoint: webhook.url, headers: {} })
  const key = Buffer.from(webhook.secret.reveal(), 'base64')
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  let failing = 0

  async function deliver(notice: LinkNotice): Promise<Delivery> {
    const id = `msg_${newId(random)}`
    const body = bodyOf(notice, clock.now())
    for (let attempts = 1; ; attempts += 1) {
      try {
        await post(body, signed(key, id, clock.now(), body), timeLimit)
        if (attempts > 1) failing -= 1
        return { attempts, why: undefined }
      } catch (error) {
        const why = error instanceof Error ? error.message : 'it failed'
        const pause = pauses[attempts - 1]
        if (pause === undefined) {
          if (attempts > 1) failing -= 1
          return { attempts, why }
        }
        // Without a reference, because a link that waits must not keep the process alive.
        if (attempts === 1) failing += 1
        await sleep(pause, undefined, { signal: stopping.signal, ref: false })
      }
    }
  }

  async function run(notice: LinkNotice): Promise<void> {
    const isFull = running.size >= MOST_WAITING
    const delivery = isFull
      ? { attempts: 0, why: 'too many notifications are waiting' }
      : await deliver(notice)
    const { attempts, why } = delivery
    if (why !== undefined) {
      const { id: enrollmentId } = notice.enrollment
      log.warn({ enrollmentId, attempts, why }, 'a link could not be delivered')
    }
    await onEnd(notice, delivery)
  }

  return {
    send(notice) {
      if (stopping.signal.aborted) return
      const work = run(notice)
        .catch((err: unknown) => {
          if (!stopping.signal.aborted) log.error({ err }, 'a notification failed')
        })
        .finally(() => running.delete(work))
      running.add(work)
    },
    failing: () => failing,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

function bodyOf({ type, enrollment, identity, link }: LinkNotice, now: Instant): string {
  const { expiresAt, username, ...rest } = enrollment
  const { externalId, ...owner } = identity
  return JSON.stringify({
    type,
    timestamp: toRfc3339(now),
    data: {
      link: link.reveal(),
      enrollment: { ...rest, username: username ?? null, expiresAt: toRfc3339(expiresAt) },
      identity: { ...owner, externalId: externalId ?? null },
    },
  })
}

/** Standard Webhooks: HMAC-SHA256 over `<id>.<timestamp>.<body>`. */
function signed(key: Buffer, id: string, now: Instant, body: string): Record<string, string> {
  const timestamp = String(epochSeconds(now))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}
