/**
 * What the gateway answers to browsers below `/.latchkey/`: sign-in, its callback and sign-out. The same at the gateway
 * and behind a proxy (D-413).
 */
import { missingToken } from '../../protocol/challenge.ts'
import { answerWith } from './as-page.ts'
import { NOT_STORED } from './pages.ts'
import { beginSignIn, finishSignIn, onlyOf, type SignInPorts } from './sign-in.ts'
import { signOut } from './sign-out.ts'
import { type BrowserAnswer, isNavigation, type Visit } from './visit.ts'

export const SITE_ROUTES = ['sign-in', 'callback', 'sign-out'] as const
export type SiteRoute = (typeof SITE_ROUTES)[number]

export async function answerSite(
  ports: SignInPorts & { readonly brand: () => string },
  route: SiteRoute,
  visit: Visit,
  /** Where the user wanted to go, if the caller knows; otherwise the query says it. */
  wanted?: string,
): Promise<BrowserAnswer> {
  const methods = route === 'sign-out' ? ['GET', 'POST'] : ['GET']
  if (!methods.includes(visit.method)) {
    const fields = [['allow', methods.join(', ')] as const, ...NOT_STORED]
    return { status: 405, fields, body: '', code: 'METHOD_NOT_ALLOWED' }
  }
  const [, query = ''] = visit.target.split('?')
  switch (route) {
    case 'sign-in': {
      // A proxy may send here whatever was refused, calls of scripts too: they must not be redirected.
      if (!isNavigation(visit)) {
        const challenges = missingToken(ports.brand())
        return answerWith(visit, { code: 'UNAUTHORIZED', challenges })
      }
      const target = wanted ?? onlyOf(query, 'to')
      return beginSignIn(ports, visit, { target, again: onlyOf(query, 'again') === '1' })
    }
    case 'callback':
      return finishSignIn(ports, visit)
    case 'sign-out':
      return signOut(ports, visit)
  }
}
