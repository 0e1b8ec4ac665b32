/**
 * The connection of the feed: opens it, reads it, and reconnects whenever it is cut. D-42. It notices a cut by the end
 * of the stream, by an error, or by silence. The copy interprets the lines.
 */
import { get } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import { onUpgrade } from '../base/node/on-upgrade.ts'
import type { Random } from '../base/secrets/random.ts'
import { type Duration, milliseconds, seconds } from '../base/time/duration.ts'
import type { FeedCopy } from './feed-copy.ts'
import { createLineReader, FeedFault } from './feed-lines.ts'
import { ROUTER_FEED_PATH } from './paths.ts'
import { controllerTls, type RouterIdentity } from './router-identity.ts'

export interface FeedClient {
  stop(): Promise<void>
}

export interface FeedTimes {
  /** A connection without a complete line for this long is dropped; there is one heartbeat a second. */
  readonly silence: Duration
  /** Limit until the controller responds. */
  readonly connect: Duration
  /** The delay before the second attempt; doubled for each later one. */
  readonly firstPause: Duration
  readonly longestPause: Duration
}

const TIMES: FeedTimes = {
  silence: seconds(3),
  connect: seconds(10),
  firstPause: milliseconds(100),
  longestPause: seconds(2),
}

/** What happens to every feed at times, such as at a restart of the controller. */
class FeedInterrupted extends Error {}

export function startFeedClient(deps: {
  readonly controller: URL
  readonly identity: RouterIdentity
  readonly copy: Pick<FeedCopy, 'receive' | 'cursor' | 'forgetCursor'>
  /** The name of this program, which confirms what it has applied. */
  readonly run?: string
  readonly log: Log
  readonly random: Random
  readonly times?: FeedTimes
}): FeedClient {
  const { controller, copy, log, times = TIMES } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  let pause = times.firstPause
  let isWell: boolean | undefined

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      const why = await listen().catch((error: unknown) => {
        // What was received may be incomplete, so the next connection starts from the beginning.
        if (error instanceof FeedFault) copy.forgetCursor()
        return error
      })
      if (signal.aborted) return
      if (isWell !== false) {
        log.warn(describeInterruption(why), 'the feed of the controller was interrupted')
      }
      isWell = false
      await sleep(shaken(pause), undefined, { signal }).catch(() => undefined)
      pause = milliseconds(Math.min(pause * 2, times.longestPause))
    }
  }

  /** Reads lines until the connection ends, and throws the reason. */
  async function listen(): Promise<never> {
    const cut = new AbortController()
    const giveUp = (sentence: string) => () => cut.abort(new FeedInterrupted(sentence))
    let timer = setTimeout(giveUp('the controller does not answer'), times.connect)
    try {
      const reception = copy.receive()
      const readLines = createLineReader()
      const response = await connect(AbortSignal.any([cut.signal, signal]))
      timer = renew(timer, giveUp('the controller is silent'))
      for await (const chunk of response) {
        for (const line of readLines(chunk)) {
          timer = renew(timer, giveUp('the controller is silent'))
          reception.take(line)
          if (line.type === 'ready') becomeWell()
        }
      }
      throw new FeedInterrupted('the controller has closed the feed')
    } catch (error) {
      throw cut.signal.aborted ? cut.signal.reason : error
    } finally {
      clearTimeout(timer)
      cut.abort()
    }
  }

  function renew(timer: NodeJS.Timeout, giveUp: () => void): NodeJS.Timeout {
    clearTimeout(timer)
    return setTimeout(giveUp, times.silence)
  }

  function connect(cut: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const url = new URL(ROUTER_FEED_PATH, controller)
    const since = copy.cursor()
    if (since !== undefined) url.searchParams.set('since', since)
    if (deps.run !== undefined) url.searchParams.set('confirms', deps.run)
    const headers = { accept: 'application/x-ndjson', 'accept-encoding': 'identity' }
    return new Promise((resolve, reject) => {
      const options = { ...controllerTls(deps.identity), agent: false, headers, signal: cut }
      const call = get(url, options, (response) => {
        if (response.statusCode === 200) resolve(response)
        else {
          response.destroy()
          reject(new FeedInterrupted(`the controller answered with status ${response.statusCode}`))
        }
      }).on('error', reject)
      onUpgrade(call, () =>
        reject(new FeedInterrupted('the controller switched protocols without a request')),
      )
    })
  }

  function becomeWell(): void {
    pause = times.firstPause
    if (isWell !== true) log.info({ controller: controller.origin }, 'following the controller')
    isWell = true
  }

  /** Between half and all of it, so that routers that were cut together do not reconnect together. */
  function shaken(duration: Duration): number {
    const [byte = 0] = deps.random.bytes(1)
    return duration * (0.5 + byte / 512)
  }

  const running = follow()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** A sentence for what comes from the network or the controller; only a fault of our own needs a stack trace. */
function describeInterruption(
  error: unknown,
): { readonly why: string } | { readonly err: unknown } {
  if (error instanceof FeedInterrupted || error instanceof FeedFault) return { why: error.message }
  const isOfNetwork = error instanceof Error && 'code' in error && !(error instanceof TypeError)
  if (!isOfNetwork) return { err: error }
  // Without a message if the controller has several addresses and none of them answers.
  return { why: error.message === '' ? String(error.code) : error.message }
}
