/**
 * One search for everything that an administrator may hold in their hands: a name, a username, an external id, the id of
 * an identity, a session or a request, or the fingerprint of a certificate. D-358. A fixed number of queries, whatever
 * the text.
 */
import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import { ownersOf } from '../../identities/identity.ts'
import { anyOf, contains, equals } from '../../lists/filters.ts'
import type { Stores } from '../../stores.ts'
import { describeIdentities, type IdentityDetail, type ReadPorts } from '../read-identities.ts'

type FindPorts = ReadPorts & Pick<Stores, 'sessionCertificates' | 'events'>

export interface FoundAnyone {
  readonly identities: readonly IdentityDetail[]
  readonly isMore: boolean
  /** A session with this id, live or ended. */
  readonly session: FoundSession | undefined
  /** A request with this id that left events. */
  readonly requestId: string | undefined
}

export interface FoundSession {
  readonly id: string
  readonly identityId: IdentityId | undefined
  readonly isLive: boolean
}

const MOST_FOUND = 25

export async function findAnyone(ports: FindPorts, text: string): Promise<FoundAnyone> {
  const fingerprint = text.toLowerCase().replaceAll(/[\s:]/g, '')
  const page = { limit: MOST_FOUND, offset: 0 }
  const [named, credentials, session, certificate, recorded] = await Promise.all([
    ports.identities.list({
      ...page,
      filter: anyOf(contains('name', text), equals('externalId', text), equals('id', text)),
    }),
    ports.authenticators.list({
      ...page,
      filter: anyOf(
        contains('username', text),
        equals('fingerprint', fingerprint),
        equals('id', text),
      ),
    }),
    ports.apiSessions.find(text as ApiSessionId),
    ports.sessionCertificates.findByFingerprint(fingerprint),
    ports.events.list({
      limit: 1,
      offset: 0,
      filter: anyOf(equals('requestId', text), equals('sessionId', text)),
    }),
  ])
  const live = session ?? (certificate && (await ports.apiSessions.find(certificate.sessionId)))
  const known = new Set(named.rows.map(({ id }) => id))
  const others = [...ownersOf(credentials.rows), ...(live === undefined ? [] : [live.identityId])]
  const missing = [...new Set(others)].filter((id) => !known.has(id))
  const found = await ports.identities.findMany(missing)
  const identities = [...named.rows, ...found.values()].slice(0, MOST_FOUND)
  const [event] = recorded.rows
  return {
    identities: await describeIdentities(ports, identities),
    isMore: named.totalCount > MOST_FOUND || credentials.totalCount > MOST_FOUND,
    session: foundSession(text, live, event),
    requestId: event?.requestId === text ? text : undefined,
  }
}

function foundSession(
  text: string,
  live: { readonly id: string; readonly identityId: IdentityId } | undefined,
  event:
    | { readonly sessionId: string | undefined; readonly identityId: IdentityId | undefined }
    | undefined,
): FoundSession | undefined {
  if (live !== undefined) return { id: live.id, identityId: live.identityId, isLive: true }
  if (event?.sessionId !== text) return undefined
  return { id: text, identityId: event.identityId, isLive: false }
}
