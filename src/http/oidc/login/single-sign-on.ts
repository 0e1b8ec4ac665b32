/**
 * Single sign-on of browsers (D-345): at the authorization endpoint for a site, and with one button for an application on
 * the user's own device: GET and POST /oidc/login/continue.
 */
import type { AccountPorts } from '../../../domain/account/ports.ts'
import { findReusable, reuseSession } from '../../../domain/account/single-sign-on.ts'
import { findOpenRequest, type OpenRequest } from '../../../domain/login/request/find-request.ts'
import { openRequest } from '../../../domain/login/request/sealed-request.ts'
import type { StartedLogin } from '../../../domain/login/start.ts'
import { type LoginPath, loginAddress } from '../../../web/login/login-address.ts'
import { continuePage } from '../../../web/login/pages/continue-page.ts'
import { ACCOUNT_SITE } from '../../account/account-route.ts'
import { type Answer, redirect, withCookies } from '../../answer.ts'
import type { Call } from '../../call.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { credentialOf } from '../../own-site/visitor.ts'
import type { Router } from '../../router.ts'
import { sendToClient } from '../client-answers.ts'
import { PATHS } from '../paths.ts'
import { setCookie } from './browser-cookie.ts'
import { during, identified, targetOf } from './during.ts'
import { answerStep, LOGIN_POST, LOGIN_ROUTE, loginPage, nextPath, readStep } from './login-step.ts'

type AtListener = Pick<ListenerParts, 'addresses' | 'corsOrigins'>

/**
 * Returns the response that the session of the browser makes possible; undefined if the user must be asked. `silent`:
 * `prompt=none`, so there may be no page either (OIDC Core §3.1.2.1).
 */
export async function signOn(
  ports: AccountPorts,
  call: Call,
  started: Extract<StartedLogin, { next: 'login' }>,
  use: { readonly listener: Pick<AtListener, 'addresses'>; readonly silent: boolean },
): Promise<Answer | undefined> {
  const { authRequestId, key, cookie } = started
  const request = cookie === undefined ? undefined : openRequest(ports.vault, authRequestId)
  if (request === undefined || cookie === undefined) return undefined
  const found = await reusableFor(ports, call, request, use.listener)
  if (found === undefined) return undefined
  const to = (path: LoginPath) =>
    use.silent
      ? undefined
      : withCookies(redirect(loginAddress(path, authRequestId)), [setCookie(key, cookie)])
  // RFC 8252 §8.6: nothing assures us which program of the device asks.
  if (targetOf(request.ask).kind !== 'site') return to('continue')
  const step = await reuseSession(ports, request, found, call.caller)
  if (step === undefined) return undefined
  call.isFrom(step)
  if (step.next === 'answer') return sendToClient(call, step.answer)
  return to(nextPath(step.authQueries))
}

/** The session of the browser, if it answers for the user. */
function reusableFor(
  ports: AccountPorts,
  call: Call,
  { ask }: Pick<OpenRequest, 'ask'>,
  listener: Pick<AtListener, 'addresses'>,
) {
  return findReusable(ports, ask, credentialOf({ site: ACCOUNT_SITE, listener }, call))
}

export function addContinue(router: Router, ports: AccountPorts, listener: AtListener): void {
  const url = PATHS.loginContinue
  const toPassword = (authRequestId: string) => redirect(loginAddress('username', authRequestId))

  router.add({ ...LOGIN_ROUTE, method: 'GET', url, replies: [200, 302, 406] }, async (call) => {
    const { authRequestId, origin } = readStep(call, listener)
    const request = await findOpenRequest(ports, authRequestId, origin)
    const found = await reusableFor(ports, call, request, listener)
    if (found === undefined) return toPassword(authRequestId)
    const who = { identityId: found.identityId, authRequestId }
    const presentation = await identified(ports, during(call, request), who)
    return loginPage(200, continuePage(presentation, authRequestId), request)
  })

  router.add({ ...LOGIN_POST, url, replies: [200, 302, 406] }, async (call) => {
    const { authRequestId, origin } = readStep(call, listener)
    const request = await findOpenRequest(ports, authRequestId, origin)
    const found = await reusableFor(ports, call, request, listener)
    const step = found && (await reuseSession(ports, request, found, call.caller))
    if (step === undefined) return toPassword(authRequestId)
    return answerStep(ports, call, { step, found: request, authRequestId })
  })
}
