/**
 * The feed for edge routers: keys, CAs, what policies demand, and everything that has ended. The format is in
 * docs/router.md. D-34, D-42.
 *
 * It is fed from this instance's copy of the endings, which misses nothing that commits late. A cursor says up to where
 * a receiver certainly has everything. A receiver with a cursor gets the rest; one without a cursor, with an unknown
 * one, or with one from before a restore gets everything.
 */

import type { SecretHash } from '../../../base/secrets/vault.ts'
import type { Issuer } from '../../../protocol/oidc.ts'
import type { PolicyDemands } from '../../../protocol/policy-demands.ts'
import type { KnownEnding } from '../../sessions/ending/ended-sessions.ts'
import type { CallPorts } from '../ports.ts'
import { type MarkHolder, writeMark } from './marks.ts'

export type FeedLine =
  | {
      readonly type: 'hello'
      readonly version: 1
      readonly brand: string
      readonly trustDomain: string
      readonly issuers: readonly Issuer[]
      readonly heartbeatSeconds: number
      readonly isSnapshot: boolean
      /** Changes after a restore: nothing that was accepted before is valid any more (D-159). */
      readonly epoch: string
    }
  | { readonly type: 'keys'; readonly keys: readonly object[] }
  | { readonly type: 'cas'; readonly cas: string }
  | ({ readonly type: 'policy' } & PolicyDemands)
  | { readonly type: 'policy-removed'; readonly id: string }
  | ({ readonly type: 'ended' } & KnownEnding)
  /** Everything before this line, for the router to confirm (D-381). */
  | { readonly type: 'mark'; readonly mark: string }
  | { readonly type: 'ready'; readonly cursor: string }
  | { readonly type: 'heartbeat'; readonly cursor: string; readonly at: number }

export interface RouterFeed {
  /**
   * Called once a second: sends the heartbeat, and changed keys and CAs. Sends nothing while our own copies are stale.
   */
  beat(): void
  close(): void
}

export const HEARTBEAT_SECONDS = 1

export function openRouterFeed(
  ports: Pick<
    CallPorts,
    | 'brand'
    | 'trustDomain'
    | 'issuers'
    | 'caBundlePem'
    | 'signingKeys'
    | 'endedSessions'
    | 'rules'
    | 'vault'
    | 'clock'
  >,
  since: string | undefined,
  send: (line: FeedLine) => void,
  /** Set if the router confirms: it gets marks. */
  holder?: MarkHolder,
): RouterFeed {
  const { brand, trustDomain, endedSessions, signingKeys, rules, clock } = ports
  // The numbers of another installation have no meaning here.
  const here = ports.vault.hash('installation', 'router-feed')
  const writeCursor = () => `${prefixOf(here)}.${endedSessions.cursor() ?? 0}`
  const after = readCursor(here, since)
  const isSnapshot = after === undefined || after > endedSessions.latest()
  let shownKeys = ''
  let shownCas = ''
  /** The last state sent for each policy. */
  const shownPolicies = new Map<string, string>()

  function sendKeys(): void {
    // Routers judge access tokens alone; a key for ID tokens must not verify one there (D-320).
    const { keys } = signingKeys.keySet(['access'])
    const text = JSON.stringify(keys)
    if (text === shownKeys) return
    shownKeys = text
    send({ type: 'keys', keys })
  }

  function sendCas(): void {
    const cas = ports.caBundlePem()
    if (cas === shownCas) return
    shownCas = cas
    send({ type: 'cas', cas })
  }

  /** One line for each policy, so that no line grows with their number: D-232. */
  function sendPolicies(): void {
    const gone = new Set(shownPolicies.keys())
    for (const demands of rules.allDemands()) {
      gone.delete(demands.id)
      const text = JSON.stringify(demands)
      if (shownPolicies.get(demands.id) === text) continue
      shownPolicies.set(demands.id, text)
      send({ type: 'policy', ...demands })
    }
    for (const id of gone) {
      shownPolicies.delete(id)
      send({ type: 'policy-removed', id })
    }
  }

  let isClosed = false
  let shownMark = ''
  function sendMark(): void {
    if (holder === undefined || isClosed) return
    const mark = writeMark(ports.vault, holder, endedSessions.position())
    if (mark === shownMark) return
    shownMark = mark
    send({ type: 'mark', mark })
  }

  // Subscribe before reading anything: endings from now on are sent, even if the list below contains them too.
  const stopEnds = endedSessions.onEnd((ending) => {
    send({ type: 'ended', ...ending })
    // After the others that became known together with it: one mark for all of them, and none before its endings.
    queueMicrotask(sendMark)
  })
  send({
    type: 'hello',
    version: 1,
    brand,
    trustDomain,
    issuers: ports.issuers(),
    heartbeatSeconds: HEARTBEAT_SECONDS,
    isSnapshot,
    epoch: prefixOf(here),
  })
  sendKeys()
  sendCas()
  sendPolicies()
  for (const ending of endedSessions.entries(isSnapshot ? undefined : after)) {
    send({ type: 'ended', ...ending })
  }
  send({ type: 'ready', cursor: writeCursor() })
  sendMark()
  // Immediately: routers must close what a policy forbids within a second.
  const stopRules = rules.onChange(sendPolicies)

  return {
    beat() {
      // A router that receives no heartbeat refuses by itself, so an instance that may have missed an ending sends
      // none.
      if (endedSessions.isStale() || rules.isStale()) return
      sendKeys()
      sendCas()
      send({ type: 'heartbeat', cursor: writeCursor(), at: clock.now() })
      sendMark()
    },
    close() {
      isClosed = true
      stopEnds()
      stopRules()
    },
  }
}

function readCursor(here: SecretHash, text: string | undefined): number | undefined {
  const match = /^([\w-]{12})\.(\d{1,15})$/.exec(text ?? '')
  return match?.[1] === prefixOf(here) ? Number(match[2]) : undefined
}

function prefixOf(here: SecretHash): string {
  return here.slice(0, 12)
}
