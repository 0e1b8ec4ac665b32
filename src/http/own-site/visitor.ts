/** Who asks for one of our own pages: the session of the cookie, and the login of a browser that has none. D-161. */
import { type BegunAccountLogin, beginAccountLogin } from '../../domain/account/login.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import { authenticateAccount, formToken } from '../../domain/account/session.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import { currentIdentity } from '../../domain/sessions/current-session.ts'
import { Failure } from '../../errors/catalogue.ts'
import { type Answer, redirect, withCookies } from '../answer.ts'
import type { Call } from '../call.ts'
import { refusedPage } from '../error-replies.ts'
import { setCookie } from '../oidc/login/browser-cookie.ts'
import { METHOD_PATHS } from '../oidc/paths.ts'
import { requireHtml } from '../reading/negotiation.ts'
import { fingerprintOf } from '../reading/peer-certificate.ts'
import type { AtListener, Site } from './site.ts'

/**
 * `blocked`: the policy requires a JWT with every call, which a page cannot send (D-52). `refused`: the session is
 * valid, and the site is not for this user.
 */
export type Visitor =
  | { readonly kind: 'known'; readonly session: CallSession }
  | {
      readonly kind: 'blocked' | 'refused'
      readonly session: CallSession
      readonly failure: Failure
    }
  | { readonly kind: 'stranger'; readonly failure: Failure }

/** Where the routes of a site are: the same for all of them. */
export interface SiteAt {
  readonly site: Site
  readonly ports: AccountPorts
  readonly listener: AtListener
}

export async function visitorOf(at: SiteAt, call: Call): Promise<Visitor> {
  const { site, ports } = at
  try {
    const session = await authenticateAccount(ports, credentialOf(at, call), 'full')
    if (site.restriction?.admits(session) !== false) return { kind: 'known', session }
    return { kind: 'refused', session, failure: new Failure('FORBIDDEN') }
  } catch (error) {
    if (!isUnauthorized(error)) throw error
    const stranger = { kind: 'stranger', failure: error } as const
    if (!isSecondaryMissing(error, ports.brand)) return stranger
    const session = await sessionToEnd(at, call)
    return session === undefined ? stranger : { kind: 'blocked', session, failure: error }
  }
}

/** Returns the session of the cookie, regardless of its policy; undefined if it is no longer valid. */
export async function sessionToEnd(at: SiteAt, call: Call): Promise<CallSession | undefined> {
  try {
    return await authenticateAccount(at.ports, credentialOf(at, call), 'logout')
  } catch (error) {
    if (isUnauthorized(error)) return undefined
    throw error
  }
}

/** What a browser shows of its session. */
export function credentialOf({ site, listener }: Pick<SiteAt, 'site' | 'listener'>, call: Call) {
  return {
    site: site.name,
    cookie: site.cookies.session.read(call),
    issuer: listener.addresses().issuerOf(call),
    certificate: () => fingerprintOf(call.certificateChain()),
  }
}

/** The page for a visitor with a session who cannot use the site. */
export async function turnAway(
  { site, ports }: SiteAt,
  call: Call,
  { kind, session, failure }: Extract<Visitor, { kind: 'blocked' | 'refused' }>,
): Promise<Answer> {
  call.isFrom(session)
  const tokenOf = (path: string) => formToken(ports, site.name, session, path)
  const html =
    kind === 'blocked' || site.restriction === undefined
      ? site.blocked(call.presentation, tokenOf)
      : site.restriction.refused(await currentIdentity(ports, session), tokenOf)
  return { ...site.page(403, html), failure }
}

/**
 * Redirects to the login, and deletes the session cookie, if there is one, because it is no longer valid. A part of a
 * page that a script asks for is answered with "load the whole page", so that no login appears inside a table.
 */
export function toLogin(at: SiteAt, call: Call, to: string): Answer {
  const { cookies } = at.site
  if (call.headers['hx-request'] === 'true')
    return { status: 204, headers: { 'hx-refresh': 'true' } }
  return withCookies(redirectToLogin(at, call, to), cookies.session.clearIfSent(call))
}

/** 302 to the login, with the state for the return in cookies. */
export function redirectToLogin(at: SiteAt, call: Call, to: string): Answer {
  const { login, cookies } = beginLogin(at, call, to)
  const { method, authRequestId } = login
  return withCookies(redirect(`${METHOD_PATHS[method]}?authRequestID=${authRequestId}`), cookies)
}

/** Begins a login that ends at a page of the site, and returns it with the cookies that it needs. */
export function beginLogin(
  { site, ports, listener }: SiteAt,
  call: Call,
  to: string,
): { readonly login: BegunAccountLogin['login']; readonly cookies: readonly string[] } {
  const { cookies, callbackPath } = site
  const base = listener.addresses().baseUrlOf(call)
  const { state, kept, login } = beginAccountLogin(ports, {
    site: site.name,
    issuer: listener.addresses().issuerOf(call),
    callback: `${base}${callbackPath}`,
    hasCertificate: call.certificateChain() !== undefined,
    // It travels in a cookie, and the address of the call may be of any length.
    to: site.pageAt(to) ?? site.path,
  })
  const { key, cookie } = login
  const set = [
    cookies.login(state).keep(kept),
    ...cookies.clearOldLogins(call),
    ...(cookie === undefined ? [] : [setCookie(key, cookie)]),
  ]
  return { login, cookies: set }
}

/** Shows a failure as a page of the site if the caller accepts HTML; only internal errors go to the general handler. */
export async function withPages(
  { site, ports: { brand } }: Pick<SiteAt, 'site'> & { ports: Pick<AccountPorts, 'brand'> },
  call: Call,
  answer: () => Promise<Answer>,
  back: (error: Failure) => string = () => site.path,
): Promise<Answer> {
  requireHtml(call)
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof Failure) || !call.wantsHtml) throw error
    const shown = { requestId: call.caller.requestId ?? '', back: back(error) }
    const html = site.failure(call.presentation, error, shown)
    return refusedPage(error, brand, (status) => site.page(status, html))
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
