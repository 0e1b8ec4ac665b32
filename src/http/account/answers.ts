/** The responses of the account pages: a page, or a redirect to one. */
import { type AccountPage, PAGE_PATHS } from '../../web/account/layout.ts'
import type { Note } from '../../web/account/notes.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import { type Answer, page, withCookies } from '../answer.ts'
import { siteCookies } from '../own-site/cookies.ts'
import { seeOther } from '../own-site/site.ts'

export function accountPage(status: number, html: SafeHtml): Answer {
  return page(status, html, { formAction: [], style: 'account', script: 'passkeys' })
}

/** Redirects to a page that shows a notice. The notice is in a cookie, so that a link cannot forge it. */
export function backTo(name: AccountPage, note: Note): Answer {
  return withCookies(seeOther(PAGE_PATHS[name]), [siteCookies('account').note.keep(note)])
}
