/** /account/sessions: lists the user's sessions, and ends them after a fresh login (D-162, D-163). */
import type { ApiSessionId } from '../../base/ids.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import { isFreshLogin } from '../../domain/account/session.ts'
import type { ApiSession } from '../../domain/sessions/api-session.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import {
  endOtherSessions,
  endOwnSession,
  listOwnSessions,
} from '../../domain/sessions/own-sessions.ts'
import { Failure } from '../../errors/catalogue.ts'
import {
  END_OTHERS_PATH,
  END_SESSION_PATH,
  type ShownSession,
  sessionsPage,
} from '../../web/account/sessions-page.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import { refusedPage } from '../error-replies.ts'
import { fieldOf } from '../own-site/form-checks.ts'
import type { AccountCall, AccountRoutes } from './account-route.ts'
import { accountPage, backTo } from './answers.ts'

/** As many as a user can reasonably look through. */
const MOST_SHOWN = 50

export function addSessionsPage(routes: AccountRoutes, ports: AccountPorts): void {
  routes.show('sessions', (call) => listed(call))

  routes.submit('sessions', END_SESSION_PATH, async (call, fields) => {
    const { session, caller } = call
    if (!(await isFreshLogin(ports, session))) return backTo('sessions', 'confirm-first')
    try {
      await endOwnSession(ports, session, fieldOf(fields, 'session') as ApiSessionId, caller)
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'NOT_FOUND') throw error
      // The button was pressed twice, or the session expired meanwhile: show the remaining ones instead of an error.
      const html = await listed(call, call.presentation.say('sessions.gone'))
      return refusedPage(error, ports.brand, (status) => accountPage(status, html))
    }
    return backTo('sessions', 'session-ended')
  })

  routes.submit('sessions', END_OTHERS_PATH, async ({ session, caller }) => {
    if (!(await isFreshLogin(ports, session))) return backTo('sessions', 'confirm-first')
    await endOtherSessions(ports, session, caller)
    return backTo('sessions', 'sessions-ended')
  })

  async function listed({ session, frame }: AccountCall, error?: string): Promise<SafeHtml> {
    const { rows, totalCount: total } = await listOwnSessions(ports, session, MOST_SHOWN)
    const sessions = rows
      .map((row) => shown(row, session))
      // This browser's session first, then the others, newest first.
      .sort((one, other) => Number(other.isCurrent) - Number(one.isCurrent))
    const isFresh = await isFreshLogin(ports, session)
    return sessionsPage(frame, { sessions, total, isFresh, error })
  }
}

function shown(row: ApiSession, { sessionId }: CallSession): ShownSession {
  const { id, userAgent, address, createdAt, expiresAt } = row
  const lastActivityAt = row.kind === 'legacy' ? row.lastActivityAt : undefined
  const isCurrent = id === sessionId
  return { id, isCurrent, userAgent, address, createdAt, lastActivityAt, expiresAt }
}
