/**
 * Notifies watchers when what was accepted is no longer valid: its session, token or certificate has ended, its
 * certificate has expired, its policy now demands more, or the router is cut off. D-42: open connections are closed
 * within a second. Each watcher is notified once.
 */
import type { Clock } from '../base/time/clock.ts'
import type { Accepted } from './check.ts'
import type { FeedCopy } from './feed-copy.ts'
import { policyRefusal } from './policy-check.ts'

export type EndOfAcceptance = 'ended' | 'certificate-expired' | 'cut-off' | 'policy' | 'rules'

/** Returns a function that stops watching. Reports what has ended meanwhile before it returns. */
export type Watch = (
  accepted: Pick<Accepted, 'subjects' | 'certificateExpiresAt' | 'login'> & {
    readonly identityId?: string
  },
  onEnd: (why: EndOfAcceptance) => void,
  /** Rules of the caller's own, asked again when the identity has lost a role. */
  mayStillPass?: () => boolean,
) => () => void

export interface Watches {
  readonly watch: Watch
  /** Something has ended. */
  tell(subject: string): void
  /** Policies have changed: ends what they no longer accept (D-232). */
  judgeAgain(): void
  /** The identity has lost a role: ends what its rules no longer accept (D-400). */
  loseRole(identityId: string): void
  /** Everything that was accepted has ended. */
  endAll(): void
  /** Checks the time: certificates expire, and silence may last too long. Called several times a second. */
  look(): void
}

interface Watcher {
  readonly accepted: Parameters<Watch>[0]
  readonly onEnd: (why: EndOfAcceptance) => void
  readonly mayStillPass: (() => boolean) | undefined
  /** The subjects of what was accepted, and its identity if it has rules. */
  readonly keys: readonly string[]
}

export function createWatches(deps: {
  readonly copy: () => Pick<FeedCopy, 'hasEnded' | 'isCutOff' | 'known'>
  readonly clock: Pick<Clock, 'now'>
}): Watches {
  const { clock } = deps
  const watchers = new Set<Watcher>()
  const bySubject = new Map<string, Set<Watcher>>()

  function forget(watcher: Watcher): boolean {
    if (!watchers.delete(watcher)) return false
    for (const subject of watcher.keys) {
      const others = bySubject.get(subject)
      others?.delete(watcher)
      if (others?.size === 0) bySubject.delete(subject)
    }
    return true
  }

  function isUnmet({ accepted }: Watcher): boolean {
    return policyRefusal(deps.copy().known()?.policies, accepted.login) !== undefined
  }

  function end(watcher: Watcher, why: EndOfAcceptance): void {
    if (forget(watcher)) watcher.onEnd(why)
  }

  return {
    watch(accepted, onEnd, mayStillPass) {
      const { subjects, identityId } = accepted
      const keys = identityId === undefined ? subjects : [...subjects, rulesOf(identityId)]
      const watcher = { accepted, onEnd, mayStillPass, keys }
      watchers.add(watcher)
      for (const subject of keys) {
        const others = bySubject.get(subject)
        if (others === undefined) bySubject.set(subject, new Set([watcher]))
        else others.add(watcher)
      }
      const copy = deps.copy()
      if (subjects.some((subject) => copy.hasEnded(subject))) end(watcher, 'ended')
      else if (copy.isCutOff()) end(watcher, 'cut-off')
      else if (isUnmet(watcher)) end(watcher, 'policy')
      else if (mayStillPass?.() === false) end(watcher, 'rules')
      return () => void forget(watcher)
    },

    tell(subject) {
      for (const watcher of [...(bySubject.get(subject) ?? [])]) end(watcher, 'ended')
    },

    loseRole(identityId) {
      for (const watcher of [...(bySubject.get(rulesOf(identityId)) ?? [])]) {
        if (watcher.mayStillPass?.() === false) end(watcher, 'rules')
      }
    },

    judgeAgain() {
      for (const watcher of [...watchers]) if (isUnmet(watcher)) end(watcher, 'policy')
    },

    endAll() {
      for (const watcher of [...watchers]) end(watcher, 'ended')
    },

    look() {
      const isCutOff = deps.copy().isCutOff()
      const now = clock.now()
      for (const watcher of [...watchers]) {
        if (isCutOff) end(watcher, 'cut-off')
        else if (now > (watcher.accepted.certificateExpiresAt ?? now)) {
          end(watcher, 'certificate-expired')
        }
      }
    },
  }
}

/** No subject of an ending has this form. */
function rulesOf(identityId: string): string {
  return `rules of ${identityId}`
}
