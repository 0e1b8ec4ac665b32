/**
 * Signing out at the gateway. GET asks, POST ends the session here at once and at the controller. D-412. A form of
 * another site changes nothing.
 */
import { clearSession } from './cookies.ts'
import { refusalPage, signedOutPage, signOutPage } from './pages.ts'
import { type BrowserSessions, sessionOf } from './sessions.ts'
import { type BrowserAnswer, isCrossSite, type Visit } from './visit.ts'

export function signOut(
  { sessions }: { readonly sessions: BrowserSessions },
  visit: Visit,
): BrowserAnswer {
  const session = sessionOf(sessions, visit)
  if (visit.method === 'POST') {
    if (isCrossSite(visit))
      return { ...refusalPage(visit, 403, 'blocked', '/'), code: 'CROSS_SITE' }
    const afterwards = session === undefined ? {} : { afterwards: () => void sessions.end(session) }
    if (session !== undefined) sessions.forget(session)
    return { ...signedOutPage(visit, [clearSession()]), ...afterwards }
  }
  if (session === undefined) return signedOutPage(visit, [clearSession()])
  const { preferred_username, name, sub } = session.session.claims()
  return signOutPage(visit, preferred_username ?? name ?? sub)
}
