/** A session as the console lists it. */
import type { ApiSession } from '../../../domain/sessions/api-session.ts'
import type { CallSession } from '../../../domain/sessions/call-session.ts'
import type { SessionDetail } from '../../../domain/sessions/session-detail.ts'
import type { ListedSession } from '../../../web/console/sessions/session-table.ts'

export function shownSession(detail: SessionDetail, own: CallSession): ListedSession {
  const { session, identity, isMfaComplete } = detail
  return {
    ...liveFields(session, own),
    identityId: identity.id,
    identityName: identity.name,
    isPartial: !isMfaComplete,
  }
}

/** What the session itself knows. */
export function liveFields(session: ApiSession, own: CallSession) {
  const { id, kind, address, userAgent, amr, createdAt, expiresAt } = session
  const clientId = session.kind === 'oidc' ? session.clientId : undefined
  const isCurrent = id === own.sessionId
  return { id, kind, clientId, address, userAgent, amr, isCurrent, createdAt, expiresAt }
}
