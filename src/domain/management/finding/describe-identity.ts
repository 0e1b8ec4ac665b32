/**
 * Everything about one identity that an administrator looks at first: credentials, second factor, sessions and the latest
 * events. D-358. A fixed number of queries.
 */
import type { IdentityId } from '../../../base/ids.ts'
import type { RecordedEvent } from '../../audit/recorded-event.ts'
import type { SessionCertificate } from '../../certificates/session/session-certificate.ts'
import { anyOf, equals } from '../../lists/filters.ts'
import type { PageOf } from '../../paging.ts'
import type { SessionDetail } from '../../sessions/session-detail.ts'
import type { Stores } from '../../stores.ts'
import { listSessionsOf } from '../manage-sessions.ts'
import { findIdentity, type IdentityDetail, type ReadPorts } from '../read-identities.ts'

type DescribePorts = ReadPorts &
  Parameters<typeof listSessionsOf>[0] &
  Pick<Stores, 'events' | 'sessionCertificates'>

export interface DescribedIdentity extends IdentityDetail {
  /** The newest of them. */
  readonly sessions: PageOf<SessionDetail>
  /** Of these sessions: the newest that are valid. */
  readonly sessionCertificates: readonly SessionCertificate[]
  /** The newest events that it is about, or that it caused. */
  readonly events: PageOf<RecordedEvent>
}

/** As many as a page shows before "see all". */
const MOST_SHOWN = { limit: 20, offset: 0 }

/** Throws NOT_FOUND. */
export async function describeIdentity(
  ports: DescribePorts,
  id: IdentityId,
): Promise<DescribedIdentity> {
  const detail = await findIdentity(ports, id)
  const [sessions, events] = await Promise.all([
    listSessionsOf(ports, id, MOST_SHOWN),
    ports.events.list({
      ...MOST_SHOWN,
      filter: anyOf(equals('identityId', id), equals('actorId', id)),
    }),
  ])
  const sessionCertificates = await ports.sessionCertificates.listLive(
    sessions.rows.map(({ session }) => session.id),
    ports.clock.now(),
    MOST_SHOWN.limit,
  )
  return { ...detail, sessions, sessionCertificates, events }
}
