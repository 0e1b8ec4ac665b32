/**
 * Roles that an identity has lost: routers must not count them in tokens that were issued before. D-400. The removal is
 * recorded like the end of a session, so that it reaches every instance and router as surely, and is confirmed too.
 */
import { later, plus } from '../../../base/time/instant.ts'
import { roleSubject } from '../../../protocol/feed/role-removals.ts'
import type { Identity } from '../../identities/identity.ts'
import type { Stores } from '../../stores.ts'
import { endingOf } from '../api-session.ts'
import { tokensEnd } from './end-session.ts'
import type { EndingPorts } from './ports.ts'

type WithRoles = Pick<Identity, 'roleAttributes'>

export function lostRoles(current: WithRoles, next: WithRoles): readonly string[] {
  const kept = new Set(next.roleAttributes)
  return [...new Set(current.roleAttributes)].filter((role) => !kept.has(role))
}

/** `identity` is as it is now, with the version that it has without these roles. */
export async function removeRolesWithin(
  ports: Pick<EndingPorts, 'accessTokenLife' | 'clock'>,
  tx: Pick<Stores, 'apiSessions' | 'sessionEndings'>,
  { id, roleVersion }: Pick<Identity, 'id' | 'roleVersion'>,
  lost: readonly string[],
): Promise<void> {
  if (lost.length === 0) return
  const now = ports.clock.now()
  // D-231: a token may live longer than those that are issued now.
  const end = (await tx.apiSessions.listOf(id))
    .map((session) => tokensEnd(session, now))
    .reduce(later, plus(now, ports.accessTokenLife))
  for (const role of lost) {
    await tx.sessionEndings.insert(endingOf(roleSubject(id, roleVersion, role), now, end))
  }
}
