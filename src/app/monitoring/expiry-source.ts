import { allExpiring, countEnrolledEnds } from '../../domain/overview/expiry.ts'
import type { Core } from '../core.ts'
import type { ExpirySource } from './expiry-metrics.ts'

/** What metrics say about expiry; in one process of an instance, as each value has one home (D-291). */
export function expirySource({ ports }: Pick<Core, 'ports'>): ExpirySource {
  return {
    list: () => allExpiring(ports),
    countEnrolledEnds: (within) => countEnrolledEnds(ports, within),
  }
}
