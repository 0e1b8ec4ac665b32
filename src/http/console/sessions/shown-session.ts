/** A session as the console lists it. */
import type { CallSession } from '../../../domain/sessions/call-session.ts'
import type { SessionDetail } from '../../../domain/sessions/session-detail.ts'
import type { ListedSession } from '../../../web/console/sessions/session-table.ts'

export function shownSession(detail: SessionDetail, own: CallSession): ListedSession {
  const { session, identity, isMfaComplete } = detail
  const { id, kind, address, userAgent, amr, createdAt, expiresAt } = session
  return {
    id,
    identityId: identity.id,
    identityName: identity.name,
    kind,
    clientId: session.kind === 'oidc' ? session.clientId : undefined,
    address,
    userAgent,
    amr,
    isPartial: !isMfaComplete,
    isCurrent: id === own.sessionId,
    createdAt,
    expiresAt,
  }
}
