/** The frame of every account page: who is signed in, the menu, and the sign-out button. */
import { html, type SafeHtml } from '../login/html.ts'
import { foot, ICON, mark, titleOf, wholePage } from '../login/layout.ts'
import { endSentence, type ShownEnd } from '../login/pages/shown-end.ts'
import type { Presentation } from '../login/presentation.ts'
import type { Note } from './notes.ts'
import { accountSheet } from './styles.ts'

/** The paths of the pages, in the order of the menu; each form posts to a path below its page. */
export const ACCOUNT_PATH = '/account'
export const PAGE_PATHS = {
  overview: ACCOUNT_PATH,
  sessions: `${ACCOUNT_PATH}/sessions`,
  password: `${ACCOUNT_PATH}/password`,
  totp: `${ACCOUNT_PATH}/totp`,
  passkeys: `${ACCOUNT_PATH}/passkeys`,
  certificates: `${ACCOUNT_PATH}/certificates`,
} as const
export type AccountPage = keyof typeof PAGE_PATHS
export const SIGN_OUT_PATH = `${ACCOUNT_PATH}/sign-out`

/** The token that a form must send back, by its target (D-162). */
export type FormToken = (path: string) => string

/** What all pages share. */
export interface Frame {
  readonly presentation: Presentation
  readonly name: string
  readonly formToken: FormToken
  /** What has just happened: shown once, with the focus (D-182). */
  readonly note: Note | undefined
  /** How far the end has got of what the last form ended. */
  readonly end?: ShownEnd | undefined
}

export interface AccountLayout {
  readonly page: AccountPage
  /** The heading, if it differs from the menu. */
  readonly title?: string
  readonly content: SafeHtml
  /** Why the last attempt failed. */
  readonly error?: string | undefined
  /** The page has something that its address does not show again, so there is no switch of languages. */
  readonly shownOnce?: boolean
}

export function accountLayout(
  { presentation, name, formToken, note, end }: Frame,
  { page, title, content, error, shownOnce }: AccountLayout,
): SafeHtml {
  const { say } = presentation
  const heading = title ?? say(`page.${page}`)
  const links = (Object.keys(PAGE_PATHS) as AccountPage[]).map((one) => {
    const current = one === page && html` aria-current="page"`
    return html`<li><a href="${PAGE_PATHS[one]}"${current}>${say(`page.${one}`)}</a></li>\n`
  })
  return frame(presentation, {
    title: titleOf(presentation, say('title.account', { title: heading }), error),
    look: 'account',
    content: html`<a class="skip" href="#content">${say('account.skip')}</a>
<header class="top">
${mark(presentation)}
<p><bdi>${name}</bdi></p>
${form(formToken, SIGN_OUT_PATH, html`<button class="quiet" type="submit">${say('account.signOut')}</button>`)}
</header>
<nav class="menu" aria-label="${say('account.pages')}"><ul>
${links}</ul></nav>
<main id="content" tabindex="-1">
<h1>${heading}</h1>
${noteOf(presentation, note, end)}${content}
</main>
${foot(presentation, shownOnce === true ? 'none' : PAGE_PATHS[page])}`,
  })
}

/** What has just happened, and how far it has got; the second alone if the page was reloaded to look again. */
function noteOf(
  presentation: Presentation,
  note: Note | undefined,
  end: ShownEnd | undefined,
): SafeHtml | undefined {
  if (note === undefined && end === undefined) return undefined
  const sentences = [
    ...(note === undefined ? [] : [presentation.say(`note.${note}`)]),
    ...(end === undefined ? [] : [endSentence(presentation, end)]),
  ]
  return html`<p class="note-done" tabindex="-1" autofocus role="status">${sentences.join(' ')}</p>\n`
}

/** A form with its token. `content` has the fields and the button. */
export function form(formToken: FormToken, action: string, content: SafeHtml): SafeHtml {
  return html`<form method="post" action="${action}">
<input type="hidden" name="formToken" value="${formToken(action)}">
${content}
</form>`
}

/** `account`: with a menu; `card`: like a page of the login. */
export function frame(
  { language, branding }: Presentation,
  page: {
    readonly title: string
    readonly look: 'account' | 'card'
    readonly content: SafeHtml
  },
): SafeHtml {
  return wholePage({ ...page, language, icon: ICON, stylesheet: accountSheet(branding).text })
}
