/**
 * Signing in and out: GET /account/callback, where the login returns to; GET /account/confirm, a fresh login before a
 * change; POST /account/sign-out and the page after it. D-161, D-162, R113.
 */
import { Secret } from '../../base/secrets/secret.ts'
import { finishAccountLogin, isAccountState } from '../../domain/account/login.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import { sealAccountSession } from '../../domain/account/session.ts'
import { logOut } from '../../domain/sessions/current-session.ts'
import { CONFIRM_PATH } from '../../web/account/confirm.ts'
import {
  ACCOUNT_PATH,
  type AccountPage,
  PAGE_PATHS,
  SIGN_OUT_PATH,
} from '../../web/account/layout.ts'
import { signedOutPage } from '../../web/account/message-page.ts'
import { type Answer, withCookies } from '../answer.ts'
import type { Call } from '../call.ts'
import { bodyFields } from '../reading/body.ts'
import { invalid } from '../reading/fields.ts'
import type { Router } from '../router.ts'
import {
  ACCOUNT_ROUTE,
  type AtListener,
  CALLBACK_PATH,
  redirectToLogin,
  sessionToEnd,
  withPages,
} from './account-route.ts'
import { accountPage, seeOther } from './answers.ts'
import { clearLogin, clearSession, keepNote, keepSession, loginCookie } from './cookies.ts'
import { refuseForeign, refuseForged } from './form-checks.ts'

const SIGNED_OUT_PATH = `${ACCOUNT_PATH}/signed-out`

export function addDoors(router: Router, ports: AccountPorts, listener: AtListener): void {
  router.add(
    {
      ...ACCOUNT_ROUTE,
      method: 'GET',
      url: CALLBACK_PATH,
      reads: [],
      replies: [303, 406, 429],
    },
    (call) => comeIn(ports, call, listener),
  )

  router.add(
    { ...ACCOUNT_ROUTE, method: 'GET', url: CONFIRM_PATH, reads: [], replies: [302, 406] },
    (call) =>
      withPages(ports, call, async () => {
        const [asked, ...others] = call.query.get('page') ?? []
        if (others.length > 0) throw invalid('page', 'is repeated')
        return redirectToLogin(ports, call, listener, pageNamed(asked) ?? 'overview')
      }),
  )

  router.add(
    {
      ...ACCOUNT_ROUTE,
      method: 'POST',
      url: SIGN_OUT_PATH,
      reads: ['form'],
      replies: [303, 403, 406],
    },
    (call) =>
      withPages(ports, call, async () => {
        refuseForeign(call, listener)
        const session = await sessionToEnd(ports, call, listener)
        // A session that is already over need not be ended, and its form cannot be checked any further.
        if (session !== undefined) {
          call.isFrom(session)
          refuseForged(ports, session, SIGN_OUT_PATH, bodyFields(call.body))
          await logOut(ports, session, { ...call.caller, actorId: session.identityId })
        }
        return withCookies(seeOther(SIGNED_OUT_PATH), [clearSession()])
      }),
  )

  router.add(
    { ...ACCOUNT_ROUTE, method: 'GET', url: SIGNED_OUT_PATH, reads: [], replies: [200, 406] },
    (call) =>
      withPages(ports, call, async () => accountPage(200, signedOutPage(call.presentation))),
  )
}

const PARAMETERS = ['state', 'code', 'iss', 'error'] as const

/** Ends the login: the browser is left with a session, or with nothing. */
async function comeIn(ports: AccountPorts, call: Call, listener: AtListener): Promise<Answer> {
  const { query, caller } = call
  const { addresses } = listener
  const state = query.get('state')?.[0] ?? ''
  const isState = isAccountState(state)
  const answer = await withPages(ports, call, async () => {
    const repeated = PARAMETERS.find((name) => (query.get(name)?.length ?? 0) > 1)
    if (repeated !== undefined) throw invalid(repeated, 'is repeated')
    const code = query.get('code')?.[0]
    const issuer = addresses().issuerOf(call)
    const finished = await finishAccountLogin(ports, {
      issuer,
      callback: `${addresses().baseUrlOf(call)}${CALLBACK_PATH}`,
      state,
      kept: isState ? loginCookie(call, state) : undefined,
      iss: query.get('iss')?.[0],
      code: code === undefined || query.has('error') ? undefined : new Secret(code),
      caller,
    })
    call.isFrom(finished)
    // The browser keeps only one session: end the previous one, which would otherwise stay open unused.
    const before = await sessionToEnd(ports, call, listener)
    if (before !== undefined) await logOut(ports, before, { ...caller, actorId: before.identityId })
    const { accessToken, lifeSeconds, to } = finished
    const again = before?.identityId === finished.identityId ? [keepNote('confirmed')] : []
    return withCookies(seeOther(PAGE_PATHS[pageNamed(to) ?? 'overview']), [
      keepSession(sealAccountSession(ports, accessToken, issuer), lifeSeconds),
      ...again,
    ])
  })
  return isState ? withCookies(answer, [...(answer.cookies ?? []), clearLogin(state)]) : answer
}

function pageNamed(text: string | undefined): AccountPage | undefined {
  return (Object.keys(PAGE_PATHS) as AccountPage[]).find((name) => name === text)
}
