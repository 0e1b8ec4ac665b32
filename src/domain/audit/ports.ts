/** The ports that recording an event needs. */
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { createFoldRepeats, type FoldRepeats } from './fold-repeats.ts'

export interface AuditPorts {
  readonly clock: Clock
  readonly random: Random
  /** Bounds the rows of refusals that anonymous callers cause (D-207). It counts, so an instance has exactly one. */
  readonly foldRepeats: FoldRepeats
}

/** Returns the ports of a command, which runs outside of an instance and has counts of its own. */
export function auditPorts({ clock, random }: Omit<AuditPorts, 'foldRepeats'>): AuditPorts {
  return { clock, random, foldRepeats: createFoldRepeats({ clock }) }
}
