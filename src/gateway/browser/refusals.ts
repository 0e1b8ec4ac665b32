/** What a refusal means for a browser: sign in, a page, or a status for a script. D-410, D-411. */
import type { RefusalReason, Refused } from '../../router/router.ts'
import type { Field } from '../http/fields.ts'
import { type PageReason, refusalPage } from './pages.ts'
import type { BrowserAnswer, Visit } from './visit.ts'

/** Signing in can help: there is no session, or no valid one. */
const SIGN_IN: ReadonlySet<RefusalReason> = new Set([
  'no-certificate',
  'no-token',
  'token-invalid',
  'token-expired',
  'session-ended',
  'policy-unmet',
])

export const canSignIn = ({ reason }: Pick<Refused, 'reason'>) => SIGN_IN.has(reason)

export function pageReasonOf({ reason }: Pick<Refused, 'reason'>): PageReason {
  switch (reason) {
    case 'cut-off':
    case 'controller-unreachable':
      return 'unavailable'
    case 'secondary-jwt-required':
    case 'token-bound-elsewhere':
      return 'not-here'
    default:
      return SIGN_IN.has(reason) ? 'sign-in-failed' : 'no-access'
  }
}

/** The page of a refusal that signing in does not change. */
export function refusedPage(
  visit: Visit,
  refused: Pick<Refused, 'reason'>,
  target: string,
  more: readonly Field[] = [],
): BrowserAnswer {
  const reason = pageReasonOf(refused)
  return refusalPage(visit, reason === 'unavailable' ? 503 : 403, reason, target, more)
}
