/**
 * The account as one of our own sites: its pages, their names and their frame. D-161. Everyone who is signed in may use
 * it.
 */
import type { AccountPorts } from '../../domain/account/ports.ts'
import { CONFIRM_PATH } from '../../web/account/confirm.ts'
import {
  ACCOUNT_PATH,
  type AccountPage,
  type Frame,
  PAGE_PATHS,
  SIGN_OUT_PATH,
} from '../../web/account/layout.ts'
import { blockedPage, failurePage, signedOutPage } from '../../web/account/message-page.ts'
import { isNote } from '../../web/account/notes.ts'
import { accountErrorText } from '../../web/login/error-text.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import type { Answer } from '../answer.ts'
import { addDoors } from '../own-site/doors.ts'
import { type AtListener, siteOf } from '../own-site/site.ts'
import { type SiteCall, siteRoutes } from '../own-site/site-routes.ts'
import type { Fields } from '../reading/fields.ts'
import type { Router } from '../router.ts'
import { accountPage } from './answers.ts'

export const ACCOUNT_SITE = siteOf({
  name: 'account',
  path: ACCOUNT_PATH,
  signOutPath: SIGN_OUT_PATH,
  confirmPath: CONFIRM_PATH,
  // By its name, as links to the confirmation have it, or by its path.
  pageAt: (asked) =>
    Object.entries(PAGE_PATHS).find(([name, path]) => asked === name || asked === path)?.[1],
  page: accountPage,
  signedOut: signedOutPage,
  blocked: blockedPage,
  failure: (presentation, { code }, { requestId }) =>
    failurePage(presentation, { ...accountErrorText(presentation, code), requestId }),
})

/** The user that the page belongs to. */
export interface AccountCall extends SiteCall {
  readonly frame: Frame
}

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

/** Also adds the doors: where the account is signed in to and out of. */
export function accountRoutes(
  router: Router,
  ports: AccountPorts,
  listener: AtListener,
): AccountRoutes {
  const at = { site: ACCOUNT_SITE, ports, listener }
  const routes = siteRoutes(router, at)
  addDoors(router, at)
  return {
    show(name, content) {
      routes.show(PAGE_PATHS[name], async (call) => accountPage(200, await content(framed(call))))
    },
    submit(name, url, change) {
      routes.submit({ url, page: PAGE_PATHS[name] }, (call, fields) => change(framed(call), fields))
    },
  }
}

function framed(call: SiteCall): AccountCall {
  const { identity, presentation, formToken, note = '', end } = call
  const shown = isNote(note) ? note : undefined
  return { ...call, frame: { presentation, name: identity.name, formToken, note: shown, end } }
}
