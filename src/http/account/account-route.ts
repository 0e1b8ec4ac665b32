/**
 * What every page of the own account and every form on it goes through: the cookie instead of a header, a login instead
 * of a challenge, and pages instead of JSON. D-161, D-162. GETs change nothing; a form proves that our page sent it.
 */
import type { FastifyRequest } from 'fastify'
import type { AccountLogin } from '../../domain/account/login.ts'
import type { AccountSessions } from '../../domain/account/session.ts'
import type { Caller } from '../../domain/audit/events.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import type { CurrentIdentityOf, IdentityDetail } from '../../domain/sessions/current-session.ts'
import { CATALOGUE, Failure } from '../../errors/catalogue.ts'
import { type AccountPage, type Frame, PAGE_PATHS } from '../../web/account/layout.ts'
import { blockedPage, failurePage } from '../../web/account/message-page.ts'
import { messageText, type Note } from '../../web/account/texts.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import { type Answer, redirect, withCookies } from '../answer.ts'
import { failureHeaders } from '../faces/challenge-header.ts'
import type { ListenerAddresses } from '../issuers.ts'
import { setCookie } from '../oidc/login/browser-cookie.ts'
import { METHOD_PATHS } from '../oidc/paths.ts'
import { bodyFields } from '../reading/body.ts'
import type { Fields } from '../reading/fields.ts'
import { preferencesOf } from '../reading/negotiation.ts'
import { presentedChain, presentedFingerprint } from '../reading/peer-certificate.ts'
import type { Call, Route, Router } from '../route.ts'
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
import { CALLBACK_PATH } from './paths.ts'

export interface AccountDependencies {
  readonly brand: string
  readonly addresses: () => ListenerAddresses
  readonly accountLogin: AccountLogin
  readonly accountSessions: AccountSessions
  readonly currentIdentity: CurrentIdentityOf
}

/** Whose page it is. */
export interface AccountCall extends IdentityDetail {
  readonly request: FastifyRequest
  readonly session: CallSession
  readonly caller: Caller
  readonly frame: Frame
}

export const ACCOUNT_ROUTE = {
  // Who has no cookie is led to the login: nobody is ever challenged (R071).
  access: 'public',
  face: { json: 'api', pages: true },
  cors: 'none',
} as const satisfies Partial<Route>

export interface AccountRoutes {
  /** GET of a page: the answer is HTML. */
  show(name: AccountPage, content: (call: AccountCall) => Promise<SafeHtml>): void
  /** POST of a form on that page. */
  submit(
    name: AccountPage,
    url: string,
    change: (call: AccountCall, fields: Fields) => Promise<Answer>,
  ): void
}

export function accountRoutes(router: Router, use: AccountDependencies): AccountRoutes {
  const { accountSessions, currentIdentity } = use

  async function callOf(call: Call, session: CallSession, note?: Note): Promise<AccountCall> {
    const { request } = call
    request.session = session
    request.identity = session.identityId
    const detail = await currentIdentity(session)
    const formToken = (path: string) => accountSessions.formToken(session, path)
    const frame = { name: detail.identity.name, formToken, note }
    const caller = { ...call.caller, actorId: session.identityId }
    return { ...detail, request, session, caller, frame }
  }

  return {
    show(name, content) {
      const url = PAGE_PATHS[name]
      router.add(
        { ...ACCOUNT_ROUTE, method: 'GET', url, reads: [], replies: [200, 302, 403, 406] },
        (call) =>
          withPages(call, use, async () => {
            const { request } = call
            try {
              const visitor = await visitorOf(request, use)
              if (visitor.kind === 'stranger') return toLogin(request, use, name)
              if (visitor.kind === 'blocked') return blocked(visitor.session, use)
              const note = noteCookie(request)
              const html = await content(await callOf(call, visitor.session, note))
              return withCookies(accountPage(200, html), note === undefined ? [] : [clearNote()])
            } catch (error) {
              // Ended by somebody else while the page was being made.
              if (!isUnauthorized(error)) throw error
              return toLogin(request, use, name)
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
          withPages(call, use, async () => {
            refuseForeign(call.request, use)
            const outside = () =>
              withCookies(seeOther(PAGE_PATHS[name]), [clearSession(), keepNote('signed-in-again')])
            try {
              const visitor = await visitorOf(call.request, use)
              if (visitor.kind === 'stranger') return outside()
              if (visitor.kind === 'blocked') return blocked(visitor.session, use)
              const { session } = visitor
              const fields = bodyFields(call.body)
              refuseForged(use, session, url, fields)
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

/** Who is at the door. `blocked`: the policy demands a JWT beside every call, and a page cannot bring one (D-52). */
type Visitor =
  | { readonly kind: 'known' | 'blocked'; readonly session: CallSession }
  | { readonly kind: 'stranger' }

async function visitorOf(request: FastifyRequest, use: AccountDependencies): Promise<Visitor> {
  const shown = credentialOf(request, use)
  try {
    return { kind: 'known', session: await use.accountSessions.authenticate(shown, 'full') }
  } catch (error) {
    if (!isUnauthorized(error)) throw error
    request.failure = error
    if (!isSecondaryMissing(error, use.brand)) return { kind: 'stranger' }
    return { kind: 'blocked', session: await use.accountSessions.authenticate(shown, 'logout') }
  }
}

/** The session of the cookie, whatever its policy demands; undefined when it is none any more. */
export async function sessionToEnd(
  request: FastifyRequest,
  use: Pick<AccountDependencies, 'addresses' | 'accountSessions'>,
): Promise<CallSession | undefined> {
  try {
    return await use.accountSessions.authenticate(credentialOf(request, use), 'logout')
  } catch (error) {
    if (isUnauthorized(error)) return undefined
    throw error
  }
}

function credentialOf(
  request: FastifyRequest,
  { addresses }: Pick<AccountDependencies, 'addresses'>,
) {
  return {
    cookie: sessionCookie(request),
    issuer: addresses().issuerOf(request),
    certificate: () => presentedFingerprint(request),
  }
}

function blocked(session: CallSession, { accountSessions }: AccountDependencies): Answer {
  return accountPage(
    403,
    blockedPage((path) => accountSessions.formToken(session, path)),
  )
}

/** The cookie is of no use any more, if there is one. */
function toLogin(request: FastifyRequest, use: AccountDependencies, to: AccountPage): Answer {
  const answer = beginLogin(request, use, to)
  if (sessionCookie(request) === undefined) return answer
  return withCookies(answer, [...(answer.cookies ?? []), clearSession()])
}

/** 302 to the login, with what must come back in cookies. */
export function beginLogin(
  request: FastifyRequest,
  { addresses, accountLogin }: Pick<AccountDependencies, 'addresses' | 'accountLogin'>,
  to: AccountPage,
): Answer {
  const base = addresses().baseUrlOf(request)
  const { state, kept, login } = accountLogin.begin({
    issuer: addresses().issuerOf(request),
    callback: `${base}${CALLBACK_PATH}`,
    hasCertificate: presentedChain(request) !== undefined,
    to,
  })
  const { method, authRequestId, key, cookie } = login
  return withCookies(redirect(`${METHOD_PATHS[method]}?authRequestID=${authRequestId}`), [
    keepLogin(state, kept),
    ...clearOldLogins(request),
    ...(cookie === undefined ? [] : [setCookie(key, cookie)]),
  ])
}

/** A failure is a page of the account to who takes one; only our own faults are left to the last resort. */
export async function withPages(
  call: Call,
  { brand }: Pick<AccountDependencies, 'brand'>,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  const { request } = call
  // R023: there is nothing but pages here.
  if (preferencesOf(request.raw).mediaType(['text/html']) === undefined) {
    throw new Failure('NOT_ACCEPTABLE')
  }
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof Failure) || !call.wantsHtml) throw error
    request.failure = error
    const shown = { ...messageText(error.code), requestId: request.id }
    const headers = failureHeaders(error, brand)
    return { ...accountPage(CATALOGUE[error.code].status, failurePage(shown)), headers }
  }
}

export function isUnauthorized(error: unknown): error is Failure {
  return error instanceof Failure && error.code === 'UNAUTHORIZED'
}

/** Also where the demanded signer is gone, and no challenge can name it. */
function isSecondaryMissing({ challenges }: Failure, brand: string): boolean {
  return (
    challenges === undefined ||
    challenges.some(({ realm }) => realm === `${brand}-secondary-ext-jwt`)
  )
}
