/**
 * `latchkey/router`: decides at the edge of the network who may pass, by the client certificate of a connection and its
 * session token, with keys, CAs and endings that it follows from the controller. D-42; docs/router.md. It needs no part
 * of the server, and its caller decides what to do with a verdict.
 */

import type { Log } from '../base/log.ts'
import { type Random, systemRandom } from '../base/secrets/random.ts'
import { Secret } from '../base/secrets/secret.ts'
import { type Clock, systemClock } from '../base/time/clock.ts'
import { deferred } from '../base/time/deferred.ts'
import {
  type Accepted,
  createHeldTokenCheck,
  createRouterCheck,
  type HeldTokenCheck,
  type Refused,
  type RouterCheck,
} from './check.ts'
import { createConfirmer } from './confirmer.ts'
import { type FeedTimes, startFeedClient } from './feed-client.ts'
import { createFeedCopy, type FeedCopy } from './feed-copy.ts'
import { parseControllerUrl } from './paths.ts'
import { identityFault, type RouterIdentity } from './router-identity.ts'
import { createSessionChecks } from './session-checks.ts'
import { createWatches, type Watch } from './watches.ts'

export type {
  Accepted,
  HeldTokenCheck,
  Presented,
  RefusalReason,
  Refused,
  RouterCheck,
} from './check.ts'
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
  /** Default: no log. */
  readonly log?: Log
  readonly clock?: Clock
  readonly random?: Random
  readonly times?: FeedTimes
}

export interface Router {
  readonly check: RouterCheck
  readonly checkHeldToken: HeldTokenCheck
  /** For connections that stay open after a check: calls back once when they must be closed. */
  readonly watch: Watch
  /** The roles that the identity of a session has now; undefined if the controller did not tell (D-400). */
  rolesOf(accepted: Accepted): readonly string[] | undefined
  /** Resolves once a check can succeed. */
  readonly ready: Promise<void>
  /** From then on every check is refused, and what was open has been ended. */
  isCutOff(): boolean
  /** From the next connection to the controller on. Throws TypeError, and keeps the former one. */
  replaceIdentity(identity: RouterOptions['identity']): void
  /** The controller's brand, for challenges; undefined until it is known. */
  brand(): string | undefined
  stop(): Promise<void>
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** D-42 requires a second; an end by time alone is noticed this late. */
const LOOK_MILLISECONDS = 250

const FORGET_MILLISECONDS = 10_000

/** Throws if the options are not valid; a controller that does not respond is not an error. */
export function startRouter(options: RouterOptions): Router {
  const { log = SILENT, clock = systemClock, random = systemRandom } = options
  const controller = parseControllerUrl(options.controller)
  if (controller === undefined) throw new TypeError('the controller must be https://HOST:PORT')
  /** Read for each connection, because its parts are replaced when it was renewed. */
  const identity = checkedIdentity(options.identity)

  const confirmer = createConfirmer({ controller, identity, clock, random, log })
  const watches = createWatches({ copy: () => copy, clock })
  const copy: FeedCopy = createFeedCopy({
    clock,
    onEnded: watches.tell,
    onNewEpoch: watches.endAll,
    onPolicies: watches.judgeAgain,
    onRoleLost: watches.loseRole,
    onMark: (mark) => confirmer.applied(mark),
  })
  const sessionChecks = createSessionChecks({ controller, identity, clock })
  const check = createRouterCheck({ copy, sessionChecks, clock })
  const checkHeldToken = createHeldTokenCheck({ copy, clock })
  const { times } = options
  const feed = startFeedClient({
    controller,
    identity,
    copy,
    run: confirmer.run,
    log,
    random,
    ...(times === undefined ? {} : { times }),
  })

  const ready = deferred<void>()
  let wasCutOff = true
  let hasBeenConnected = false
  const looking = setInterval(() => {
    const isCutOff = copy.isCutOff()
    if (!isCutOff) ready.resolve()
    if (isCutOff && !wasCutOff) {
      log.error({}, 'lost the controller: every caller is refused, and open connections are closed')
    } else if (!isCutOff && wasCutOff) {
      log.info({}, `connected to the controller${hasBeenConnected ? ' again' : ''}`)
      hasBeenConnected = true
    }
    wasCutOff = isCutOff
    watches.look()
  }, LOOK_MILLISECONDS)
  /** D-383: the controller learns which sessions are admitted here. */
  function noted(verdict: Accepted | Refused): Accepted | Refused {
    if (verdict.verdict === 'accepted') confirmer.admitted(verdict.sessionId)
    return verdict
  }
  const forgetting = setInterval(() => copy.forgetExpired(), FORGET_MILLISECONDS)

  return {
    check: (presented) => check(presented).then(noted),
    checkHeldToken: (token) => checkHeldToken(token).then(noted),
    watch: watches.watch,
    rolesOf({ identityId, facts }) {
      return facts?.roles && copy.rolesOf(identityId, facts.roles)
    },
    ready: ready.promise,
    isCutOff: () => copy.isCutOff(),
    replaceIdentity(next) {
      Object.assign(identity, checkedIdentity(next))
    },
    brand: () => copy.known()?.brand,
    async stop() {
      clearInterval(looking)
      clearInterval(forgetting)
      sessionChecks.stop()
      confirmer.stop()
      await feed.stop()
    },
  }
}

function checkedIdentity(given: RouterOptions['identity']): RouterIdentity {
  const identity: RouterIdentity = { ...given, key: new Secret(given.key) }
  const fault = identityFault(identity)
  if (fault !== undefined) throw new TypeError(`the identity ${fault}`)
  return identity
}
