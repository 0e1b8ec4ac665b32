/**
 * Ctrl-C in a command. Code that waits registers what an interrupt does, before it prints anything that the user may
 * react to. The first interrupt asks the command to end; the second one ends the process (D-190).
 */
import type { Clock } from '../../base/time/clock.ts'
import { SAME_KEY_MILLISECONDS } from './signals.ts'

export interface Interrupts {
  /** Calls `act` once, at the interrupt. Returns a function that unregisters it. */
  on(act: () => void): () => void
  /** Handles an interrupt. Calls `leave` if nothing waits for an interrupt, and at the second one. */
  interrupt(): void
  readonly hasCome: boolean
}

export function createInterrupts(clock: Pick<Clock, 'uptime'>, leave: () => void): Interrupts {
  const acts = new Set<() => void>()
  let first: number | undefined
  return {
    on(act) {
      // A new function each time, because the same `act` may be registered twice.
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
