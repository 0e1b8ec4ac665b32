/** A router confirms what it has applied, and reports the sessions that it admitted. D-381, D-383. */
import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { invalid } from '../../refusals.ts'
import type { CallPorts } from '../ports.ts'
import { readMark } from './marks.ts'

export interface RouterConfirms {
  readonly run: string
  readonly mark: string
  readonly sessionIds: readonly ApiSessionId[]
}

/** Throws COULD_NOT_VALIDATE for a mark of another router, of another program, or that no feed has sent; and RATE_LIMITED. */
export function confirmForRouter(
  { vault, routerPresence }: Pick<CallPorts, 'vault' | 'routerPresence'>,
  routerId: IdentityId,
  { run, mark, sessionIds }: RouterConfirms,
): void {
  const position = readMark(vault, { routerId, run }, mark)
  if (position === undefined) {
    throw invalid('mark', 'is not one that this feed sent to this router')
  }
  if (!routerPresence.confirmed(routerId, run, position, sessionIds)) {
    throw new Failure('RATE_LIMITED', { retryAfterSeconds: 10 })
  }
}
