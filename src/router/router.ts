/**
 * `latchkey/router`: decides at the edge of the network who may pass, by the client certificate of a connection and the
 * session token beside it, with keys, CAs and endings that it follows from the controller. D-42; docs/router.md.
 * Needs nothing of the server; what to do with a verdict is its user's matter.
 */

import type { Log } from '../base/log.ts'
import { type Random, systemRandom } from '../base/secrets/random.ts'
import { Secret } from '../base/secrets/secret.ts'
import { type Clock, systemClock } from '../base/time/clock.ts'
import { createRouterCheck, type RouterCheck } from './check.ts'
import { type FeedTimes, startFeedClient } from './feed-client.ts'
import { createFeedCopy, type FeedCopy } from './feed-copy.ts'
import { parseControllerUrl } from './paths.ts'
import { identityFault, type RouterIdentity } from './router-identity.ts'
import { createSessionChecks } from './session-checks.ts'
import { createWatches, type Watch } from './watches.ts'

export type { Accepted, Presented, RefusalReason, Refused, RouterCheck } from './check.ts'
export type { EndOfAcceptance, Watch } from './watches.ts'

export interface RouterOptions {
  /** `https://HOST[:PORT]` of the controller. */
  readonly controller: string
  /** An identity of type `Router`, in PEM. */
  readonly identity: {
    readonly id: string
    readonly cert: string
    readonly key: string
    readonly ca: string
  }
  /** Where it says what happens. Default: nowhere. */
  readonly log?: Log
  readonly clock?: Clock
  readonly random?: Random
  readonly times?: FeedTimes
}

export interface Router {
  readonly check: RouterCheck
  /** For whatever stays open after a check: told once when it must be closed. */
  readonly watch: Watch
  /** Resolves when the first check can be answered with yes. */
  readonly ready: Promise<void>
  /** Every check is refused, and what was open has been ended. */
  isCutOff(): boolean
  /** The controller's brand, for challenges; undefined until it is known. */
  brand(): string | undefined
  stop(): Promise<void>
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** D-42 asks for a second; this is how late an end by time alone is noticed. */
const LOOK_MILLISECONDS = 250

const FORGET_MILLISECONDS = 10_000

/** Throws when the options cannot be used; a controller that does not answer is no reason. */
export function startRouter(options: RouterOptions): Router {
  const { log = SILENT, clock = systemClock, random = systemRandom } = options
  const controller = parseControllerUrl(options.controller)
  if (controller === undefined) throw new TypeError('the controller is not https://HOST:PORT')
  const identity: RouterIdentity = { ...options.identity, key: new Secret(options.identity.key) }
  const fault = identityFault(identity)
  if (fault !== undefined) throw new TypeError(`the identity ${fault}`)

  const watches = createWatches({ copy: () => copy, clock })
  const copy: FeedCopy = createFeedCopy({
    clock,
    onEnded: watches.tell,
    onNewEpoch: watches.endAll,
    onPolicies: watches.judgeAgain,
  })
  const sessionChecks = createSessionChecks({ controller, identity, clock })
  const { times } = options
  const feed = startFeedClient({
    controller,
    identity,
    copy,
    log,
    random,
    ...(times === undefined ? {} : { times }),
  })

  const ready = Promise.withResolvers<void>()
  let wasCutOff = true
  const looking = setInterval(() => {
    const isCutOff = copy.isCutOff()
    if (!isCutOff) ready.resolve()
    if (isCutOff && !wasCutOff) {
      log.error({}, 'cut off from the controller: everybody is refused, and what is open is closed')
    } else if (!isCutOff && wasCutOff) log.info({}, 'the controller is heard')
    wasCutOff = isCutOff
    watches.look()
  }, LOOK_MILLISECONDS)
  const forgetting = setInterval(() => copy.forgetExpired(), FORGET_MILLISECONDS)

  return {
    check: createRouterCheck({ copy, sessionChecks, clock }),
    watch: watches.watch,
    ready: ready.promise,
    isCutOff: () => copy.isCutOff(),
    brand: () => copy.known()?.brand,
    async stop() {
      clearInterval(looking)
      clearInterval(forgetting)
      sessionChecks.stop()
      await feed.stop()
    },
  }
}
