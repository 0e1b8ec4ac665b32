/** What the account pages are answered with: a page, or the way to one. */
import { type AccountPage, PAGE_PATHS } from '../../web/account/layout.ts'
import { ACCOUNT_STYLE_SOURCE } from '../../web/account/styles.ts'
import type { Note } from '../../web/account/texts.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import { type Answer, page, withCookies } from '../answer.ts'
import { keepNote } from './cookies.ts'

export function accountPage(status: number, html: SafeHtml): Answer {
  return page(status, html, { formAction: [], style: ACCOUNT_STYLE_SOURCE })
}

/** 303: a reload of what follows posts nothing again. */
export function seeOther(location: string): Answer {
  return { status: 303, headers: { location } }
}

/** Back to a page that says what has happened; the word travels in a cookie, so that no link can say it. */
export function backTo(name: AccountPage, note: Note): Answer {
  return withCookies(seeOther(PAGE_PATHS[name]), [keepNote(note)])
}
