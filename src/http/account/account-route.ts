/**
 * Common to every account page and every form on it: a cookie instead of a header, a login instead of a challenge, and
 * pages instead of JSON. D-161, D-162. GETs change nothing; a form proves that our page sent it.
 */
import { beginAccountLogin } from '../../domain/account/login.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import { authenticateAccount, formToken } from '../../domain/account/session.ts'
import type { Caller } from '../../domain/audit/events.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import { currentIdentity, type IdentityDetail } from '../../domain/sessions/current-session.ts'
import { CATALOGUE, Failure } from '../../errors/catalogue.ts'
import { ACCOUNT_PATH, type AccountPage, type Frame, PAGE_PATHS } from '../../web/account/layout.ts'
import { blockedPage, failurePage } from '../../web/account/message-page.ts'
import type { Note } from '../../web/account/notes.ts'
import { accountErrorText } from '../../web/login/error-text.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import { type Answer, redirect, withCookies } from '../answer.ts'
import type { Call } from '../call.ts'
import { failureHeaders } from '../faces/challenge-header.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { setCookie } from '../oidc/login/browser-cookie.ts'
import { METHOD_PATHS } from '../oidc/paths.ts'
import { bodyFields } from '../reading/body.ts'
import type { Fields } from '../reading/fields.ts'
import type { RequestHead } from '../reading/header-fields.ts'
import { preferencesOf } from '../reading/negotiation.ts'
import { fingerprintOf } from '../reading/peer-certificate.ts'
import type { Route } from '../route.ts'
import type { Router } from '../router.ts'
import { accountPage, seeOther } from './answers.ts'
import {
  clearNote,
  clearOldLogins,
  clearSession,
  keepLogin,
  keepNote,
  noteCookie,
  sessionCookie,
} from './cookies.ts'
import { refuseForeign, refuseForged } from './form-checks.ts'

/** The redirect URI of the account's own login (D-161). */
export const CALLBACK_PATH = `${ACCOUNT_PATH}/callback`

export type AtListener = Pick<ListenerParts, 'addresses'>

/** The user that the page belongs to. */
export interface AccountCall extends IdentityDetail {
  readonly head: RequestHead
  readonly session: CallSession
  readonly caller: Caller
  readonly frame: Frame
}

export const ACCOUNT_ROUTE = {
  // A user without a cookie is redirected to the login; these pages never send a challenge (R071).
  access: 'public',
  face: { json: 'api', pages: true },
  cors: 'none',
} as const satisfies Partial<Route>

export interface AccountRoutes {
  /** GET of a page: the response is HTML. */
  show(name: AccountPage, content: (call: AccountCall) => Promise<SafeHtml>): void
  /** POST of a form on that page. */
  submit(
    name: AccountPage,
    url: string,
    change: (call: AccountCall, fields: Fields) => Promise<Answer>,
  ): void
}

export function accountRoutes(
  router: Router,
  ports: AccountPorts,
  listener: AtListener,
): AccountRoutes {
  async function callOf(call: Call, session: CallSession, note?: Note): Promise<AccountCall> {
    call.isFrom(session)
    const detail = await currentIdentity(ports, session)
    const tokenOf = (path: string) => formToken(ports, session, path)
    const { presentation } = call
    const frame = { presentation, name: detail.identity.name, formToken: tokenOf, note }
    const caller = { ...call.caller, actorId: session.identityId }
    return { ...detail, head: call, session, caller, frame }
  }

  return {
    show(name, content) {
      const url = PAGE_PATHS[name]
      router.add(
        { ...ACCOUNT_ROUTE, method: 'GET', url, reads: [], replies: [200, 302, 403, 406] },
        (call) =>
          withPages(ports, call, async () => {
            try {
              const visitor = await visitorOf(ports, call, listener)
              if (visitor.kind === 'stranger') {
                return { ...toLogin(ports, call, listener, name), failure: visitor.failure }
              }
              if (visitor.kind === 'blocked') return blocked(ports, call, visitor)
              const note = noteCookie(call)
              const html = await content(await callOf(call, visitor.session, note))
              return withCookies(accountPage(200, html), note === undefined ? [] : [clearNote()])
            } catch (error) {
              // Another call ended the session while the page was being rendered.
              if (!isUnauthorized(error)) throw error
              return toLogin(ports, call, listener, name)
            }
          }),
      )
    },

    submit(name, url, change) {
      router.add(
        {
          ...ACCOUNT_ROUTE,
          method: 'POST',
          url,
          reads: ['form'],
          replies: [200, 303, 403, 406, 409, 429],
        },
        (call) =>
          withPages(ports, call, async () => {
            refuseForeign(call, listener)
            const outside = () =>
              withCookies(seeOther(PAGE_PATHS[name]), [clearSession(), keepNote('signed-in-again')])
            try {
              const visitor = await visitorOf(ports, call, listener)
              if (visitor.kind === 'stranger') return { ...outside(), failure: visitor.failure }
              if (visitor.kind === 'blocked') return blocked(ports, call, visitor)
              const { session } = visitor
              const fields = bodyFields(call.body)
              refuseForged(ports, session, url, fields)
              return await change(await callOf(call, session), fields)
            } catch (error) {
              if (!isUnauthorized(error)) throw error
              return outside()
            }
          }),
      )
    },
  }
}

/** The state of the caller. `blocked`: the policy requires a JWT with every call, which a page cannot send (D-52). */
type Visitor =
  | { readonly kind: 'known'; readonly session: CallSession }
  | Blocked
  | { readonly kind: 'stranger'; readonly failure: Failure }

interface Blocked {
  readonly kind: 'blocked'
  readonly session: CallSession
  readonly failure: Failure
}

async function visitorOf(ports: AccountPorts, call: Call, listener: AtListener): Promise<Visitor> {
  const shown = credentialOf(call, listener)
  try {
    return { kind: 'known', session: await authenticateAccount(ports, shown, 'full') }
  } catch (error) {
    if (!isUnauthorized(error)) throw error
    const stranger = { kind: 'stranger', failure: error } as const
    if (!isSecondaryMissing(error, ports.brand)) return stranger
    const session = await sessionToEnd(ports, call, listener)
    return session === undefined ? stranger : { kind: 'blocked', session, failure: error }
  }
}

/** Returns the session of the cookie, regardless of its policy; undefined if it is no longer valid. */
export async function sessionToEnd(
  ports: AccountPorts,
  call: Call,
  listener: AtListener,
): Promise<CallSession | undefined> {
  try {
    return await authenticateAccount(ports, credentialOf(call, listener), 'logout')
  } catch (error) {
    if (isUnauthorized(error)) return undefined
    throw error
  }
}

export function credentialOf(call: Call, { addresses }: AtListener) {
  return {
    cookie: sessionCookie(call),
    issuer: addresses().issuerOf(call),
    certificate: () => fingerprintOf(call.certificateChain()),
  }
}

function blocked(ports: AccountPorts, call: Call, { session, failure }: Blocked): Answer {
  const html = blockedPage(call.presentation, (path) => formToken(ports, session, path))
  return { ...accountPage(403, html), failure }
}

/** Redirects to the login, and deletes the session cookie, if there is one, because it is no longer valid. */
function toLogin(ports: AccountPorts, call: Call, listener: AtListener, to: AccountPage): Answer {
  const answer = beginLogin(ports, call, listener, to)
  if (sessionCookie(call) === undefined) return answer
  return withCookies(answer, [...(answer.cookies ?? []), clearSession()])
}

/** 302 to the login, with the state for the return in cookies. */
export function beginLogin(
  ports: AccountPorts,
  call: Call,
  { addresses }: AtListener,
  to: AccountPage,
): Answer {
  const base = addresses().baseUrlOf(call)
  const { state, kept, login } = beginAccountLogin(ports, {
    issuer: addresses().issuerOf(call),
    callback: `${base}${CALLBACK_PATH}`,
    hasCertificate: call.certificateChain() !== undefined,
    to,
  })
  const { method, authRequestId, key, cookie } = login
  return withCookies(redirect(`${METHOD_PATHS[method]}?authRequestID=${authRequestId}`), [
    keepLogin(state, kept),
    ...clearOldLogins(call),
    ...(cookie === undefined ? [] : [setCookie(key, cookie)]),
  ])
}

/** Shows a failure as an account page if the caller accepts HTML; only internal errors go to the general handler. */
export async function withPages(
  { brand }: Pick<AccountPorts, 'brand'>,
  call: Call,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  // R023: these routes serve only pages.
  if (preferencesOf(call).mediaType(['text/html']) === undefined) {
    throw new Failure('NOT_ACCEPTABLE')
  }
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof Failure) || !call.wantsHtml) throw error
    const { presentation } = call
    const text = accountErrorText(presentation, error.code)
    const shown = { ...text, requestId: call.caller.requestId ?? '' }
    const headers = failureHeaders(error, brand)
    const answer = accountPage(CATALOGUE[error.code].status, failurePage(presentation, shown))
    return { ...answer, headers, failure: error }
  }
}

export function isUnauthorized(error: unknown): error is Failure {
  return error instanceof Failure && error.code === 'UNAUTHORIZED'
}

/** Also used if the required signer was deleted, so that no challenge can name it. */
function isSecondaryMissing({ challenges }: Failure, brand: string): boolean {
  return (
    challenges === undefined ||
    challenges.some(({ realm }) => realm === `${brand}-secondary-ext-jwt`)
  )
}
