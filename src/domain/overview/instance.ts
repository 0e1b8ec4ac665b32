/**
 * The instances that serve a database, as each of them reports itself once a minute (D-368), with the endings that it has
 * applied (D-381). It is for people: no instance relies on what another one reports.
 */
import { type Instant, minus } from '../../base/time/instant.ts'
import {
  type ConfirmingInstance,
  INSTANCE_GONE,
} from '../sessions/confirming/confirming-instance.ts'

export interface Instance extends ConfirmingInstance {
  /** The machine and home of the instance, so that a restart replaces the row. */
  readonly place: string
  readonly version: string
  readonly revision: string
  readonly startedAt: Instant
  /** The health checks that failed when it was seen. */
  readonly failing: readonly string[]
  /** What an operator should look at although it can do its work (D-362). */
  readonly warnings: readonly string[]
  /** The certificates of its listeners. */
  readonly serverCertificates: readonly ServerCertificateEnd[]
}

export interface ServerCertificateEnd {
  readonly listener: string
  readonly endsAt: Instant
  /** Whether our own PKI issued it, and therefore renews it. */
  readonly isOwn: boolean
}

export type InstanceState = 'healthy' | 'degraded' | 'unhealthy' | 'missing'

export function stateOf(
  { seenAt, failing, warnings }: Pick<Instance, 'seenAt' | 'failing' | 'warnings'>,
  now: Instant,
): InstanceState {
  if (seenAt < minus(now, INSTANCE_GONE)) return 'missing'
  if (failing.length > 0) return 'unhealthy'
  return warnings.length === 0 ? 'healthy' : 'degraded'
}
