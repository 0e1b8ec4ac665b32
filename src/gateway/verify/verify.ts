/**
 * Forward authentication: a proxy asks whether the browser behind a request may pass. D-413, D-415. Yes is 200 with the
 * identity in fields for the service; no is 401, 403 or the way to sign in, which the proxy passes on.
 */
import { missingToken } from '../../protocol/challenge.ts'
import type { Accepted, Refused, Router } from '../../router/router.ts'
import { answerWith } from '../browser/as-page.ts'
import { NOT_STORED } from '../browser/pages.ts'
import { canSignIn, pageReasonOf, refusedPage } from '../browser/refusals.ts'
import { type BrowserSession, sessionOf } from '../browser/sessions.ts'
import { beginSignIn, type SignInPorts } from '../browser/sign-in.ts'
import { type BrowserAnswer, isCrossSite, isNavigation, type Visit } from '../browser/visit.ts'
import { brandOf } from '../http/answers.ts'
import type { Field } from '../http/fields.ts'
import { answerUnmet } from '../rules/answer-unmet.ts'
import { judgeCaller } from '../rules/judge-caller.ts'
import type { Requirements } from '../settings/settings.ts'
import type { IdentityJwts } from './identity-jwt.ts'

export interface VerifyPorts extends SignInPorts {
  readonly router: Pick<Router, 'brand' | 'rolesOf'>
  readonly require: Requirements
  /** Undefined: the service gets no JWT. */
  readonly jwts: IdentityJwts | undefined
}

export async function verifyVisit(
  ports: VerifyPorts,
  visit: Visit,
  { canRedirect }: { readonly canRedirect: boolean },
): Promise<BrowserAnswer> {
  const { sessions } = ports
  const session = sessionOf(sessions, visit)
  if (session === undefined) return refuse(ports, visit, canRedirect, NO_SESSION)
  if (isCrossSite(visit)) return answerWith(visit, { code: 'CROSS_SITE' })
  const verdict = await sessions.check(session)
  if (verdict.verdict === 'refused') return refuse(ports, visit, canRedirect, verdict)
  const unmet = judgeCaller(ports, verdict, ports)
  if (unmet !== undefined) return answerWith(visit, answerUnmet(unmet, brandOf(ports.router)))
  return accept(ports, session, verdict)
}

const NO_SESSION: Refused = { verdict: 'refused', reason: 'no-token' }

async function accept(
  { router, jwts }: VerifyPorts,
  session: BrowserSession,
  accepted: Accepted,
): Promise<BrowserAnswer> {
  const roles = router.rolesOf(accepted)
  const jwt = await jwts?.sign(session, accepted, roles)
  const fields: readonly Field[] = [
    ['x-latchkey-identity-id', accepted.identityId],
    ['x-latchkey-session-id', accepted.sessionId],
    // Always sent, so that a proxy that copies it replaces what the client wrote.
    ['x-latchkey-roles', (roles ?? []).map(encodeURIComponent).join(',')],
    ...(jwt === undefined ? [] : [['x-latchkey-jwt', jwt] as const]),
    ...NOT_STORED,
  ]
  return { status: 200, fields, body: '' }
}

async function refuse(
  ports: VerifyPorts,
  visit: Visit,
  canRedirect: boolean,
  refused: Refused,
): Promise<BrowserAnswer> {
  if (canRedirect && isNavigation(visit)) {
    const { target } = visit
    return canSignIn(refused)
      ? beginSignIn(ports, visit, { target })
      : refusedPage(visit, refused, target)
  }
  if (pageReasonOf(refused) === 'unavailable') return answerWith(visit, { code: 'NOT_READY' })
  if (!canSignIn(refused)) return answerWith(visit, { code: 'FORBIDDEN' })
  return answerWith(visit, {
    code: 'UNAUTHORIZED',
    challenges: missingToken(brandOf(ports.router)),
  })
}
