/** /account/sessions: what is signed in, and its end, which needs a fresh login (D-162, D-163). */
import type { ApiSessionId } from '../../base/ids.ts'
import type { AccountSessions } from '../../domain/account/session.ts'
import type { ApiSession } from '../../domain/sessions/api-session.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import type { OwnSessions } from '../../domain/sessions/own-sessions.ts'
import {
  END_OTHERS_PATH,
  END_SESSION_PATH,
  type ShownSession,
  sessionsPage,
} from '../../web/account/sessions-page.ts'
import { type AccountRoutes, backTo, fieldOf } from './account-route.ts'

/** As many as a person can look through. */
const MOST_SHOWN = 50

export function addSessionsPage(
  routes: AccountRoutes,
  use: { readonly ownSessions: OwnSessions; readonly accountSessions: AccountSessions },
): void {
  const { ownSessions, accountSessions } = use

  routes.show('sessions', async ({ session, frame }) => {
    const { rows, totalCount: total } = await ownSessions.list(session, MOST_SHOWN)
    const isFresh = await accountSessions.isFresh(session)
    const sessions = rows.map((row) => shown(row, session))
    return sessionsPage(frame, { sessions, total, isFresh })
  })

  routes.submit('sessions', END_SESSION_PATH, async ({ session, caller }, fields) => {
    if (!(await accountSessions.isFresh(session))) return backTo('sessions', 'confirm-first')
    await ownSessions.end(session, fieldOf(fields, 'session') as ApiSessionId, caller)
    return backTo('sessions', 'session-ended')
  })

  routes.submit('sessions', END_OTHERS_PATH, async ({ session, caller }) => {
    if (!(await accountSessions.isFresh(session))) return backTo('sessions', 'confirm-first')
    await ownSessions.endOthers(session, caller)
    return backTo('sessions', 'sessions-ended')
  })
}

function shown(row: ApiSession, { sessionId }: CallSession): ShownSession {
  const { id, kind, userAgent, address, createdAt, expiresAt } = row
  const lastActivityAt = row.kind === 'legacy' ? row.lastActivityAt : undefined
  const isCurrent = id === sessionId
  return { id, kind, isCurrent, userAgent, address, createdAt, lastActivityAt, expiresAt }
}
