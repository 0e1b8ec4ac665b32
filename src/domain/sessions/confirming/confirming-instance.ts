/** What confirmations need to know of a running instance; `overview/instance.ts` has the rest of its row. D-368, D-381. */
import { type Duration, minutes } from '../../../base/time/duration.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { Step } from './stores.ts'

export interface ConfirmingInstance {
  /** Chosen at its start. */
  readonly id: string
  /** The name of its machine. */
  readonly host: string
  readonly seenAt: Instant
  /** The newest endings that all its processes have applied, oldest first. */
  readonly steps: readonly Step[]
}

/** Instances that were last seen before that are gone: they report once a minute (D-368), and two reports may be lost. */
export const INSTANCE_GONE: Duration = minutes(3)
