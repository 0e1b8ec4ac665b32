/**
 * What differs between our own sites, the account and the console: addresses, cookies, who is let in, notes and pages.
 * Both sign in as clients of this service and check their forms in the same way. D-161, D-162, D-355.
 */
import type { OwnSite } from '../../domain/account/session.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import type { IdentityDetail } from '../../domain/sessions/current-session.ts'
import type { Failure } from '../../errors/catalogue.ts'
import type { FormToken } from '../../web/account/layout.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import type { ShownEnd } from '../../web/login/pages/shown-end.ts'
import type { Presentation } from '../../web/login/presentation.ts'
import { type Answer, withCookies } from '../answer.ts'
import type { ListenerParts } from '../listener-parts.ts'
import type { Route } from '../route.ts'
import { type SiteCookies, siteCookies } from './cookies.ts'

export type AtListener = Pick<ListenerParts, 'addresses'>

export interface SitePlan {
  readonly name: OwnSite
  /** The start page; everything else is below it. */
  readonly path: string
  /** The target of the sign-out form. */
  readonly signOutPath: string
  /** A fresh login before a change. */
  readonly confirmPath: string
  /** Returns the path to return to after a login; undefined for anything that is not a page of this site. */
  pageAt(asked: string): string | undefined
  /** Who may use the site, of those who are signed in, and the page for the others. Default: everyone. */
  readonly restriction?: {
    admits(session: CallSession): boolean
    refused(who: IdentityDetail, formToken: FormToken): SafeHtml
  }
  /** Answers with a page under the site's content security policy. */
  page(status: number, html: SafeHtml): Answer
  readonly signedOut: (presentation: Presentation, end: ShownEnd | undefined) => SafeHtml
  /** D-52: the policy requires a JWT with every call, which a page cannot send. */
  readonly blocked: (presentation: Presentation, formToken: FormToken) => SafeHtml
  readonly failure: (presentation: Presentation, error: Failure, shown: ShownFailure) => SafeHtml
}

export interface ShownFailure {
  readonly requestId: string
  /** The page to go back to. */
  readonly back: string
}

export interface Site extends SitePlan {
  readonly cookies: SiteCookies
  /** The redirect URI of the site's own login (D-161). */
  readonly callbackPath: string
  readonly signedOutPath: string
}

export function siteOf(plan: SitePlan): Site {
  return {
    ...plan,
    cookies: siteCookies(plan.name),
    callbackPath: `${plan.path}/callback`,
    signedOutPath: `${plan.path}/signed-out`,
  }
}

export const SITE_ROUTE = {
  // These pages never send a challenge (R071): a user without a cookie is redirected to the login, and a token in a form
  // is not a session.
  access: 'public',
  face: { json: 'api', pages: true },
} as const satisfies Partial<Route>

/** 303, so that a reload does not repeat the POST. */
export function seeOther(location: string): Answer {
  return { status: 303, headers: { location } }
}

/** Redirects to a page that shows a notice. The notice is in a cookie, so that a link cannot forge it. */
export function seeNote({ cookies }: Site, location: string, note: string): Answer {
  return withCookies(seeOther(location), [cookies.note.keep(note)])
}
