/**
 * Ctrl-C in a command. What waits says what an interrupt does meanwhile, before it prints anything that a person may react
 * to. The first one asks the command to end, the second one does not ask any more (D-190).
 */
import type { Clock } from '../../base/time/clock.ts'
import { SAME_KEY_MILLISECONDS } from './signals.ts'

export interface Interrupts {
  /** Calls `act` at the interrupt, once. Returns the function that takes it back. */
  on(act: () => void): () => void
  /** An interrupt has come. `leave` is called when nothing waits for one, and for the second. */
  interrupt(): void
  readonly hasCome: boolean
}

export function createInterrupts(clock: Pick<Clock, 'uptime'>, leave: () => void): Interrupts {
  const acts = new Set<() => void>()
  let first: number | undefined
  return {
    on(act) {
      // Its own function: the same act may be registered twice.
      const entry = () => act()
      acts.add(entry)
      return () => acts.delete(entry)
    },
    interrupt() {
      const now = clock.uptime()
      if (first !== undefined && now - first < SAME_KEY_MILLISECONDS) return
      const isAsked = first === undefined && acts.size > 0
      first ??= now
      if (isAsked) for (const act of [...acts]) act()
      else leave()
    },
    get hasCome() {
      return first !== undefined
    },
  }
}
