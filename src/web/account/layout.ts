/** The frame of every account page: who is signed in, the menu, and the sign-out button. */
import { html, type SafeHtml } from '../login/html.ts'
import { ICON, MARK, wholePage } from '../login/layout.ts'
import { titleOf } from '../login/texts.ts'
import { ACCOUNT_STYLESHEET } from './styles.ts'
import { ACCOUNT, NOTES, type Note, TITLES } from './texts.ts'

export type AccountPage = keyof typeof TITLES

/** The paths of the pages; each form posts to a path below its page. */
export const ACCOUNT_PATH = '/account'
export const PAGE_PATHS: Readonly<Record<AccountPage, string>> = {
  overview: ACCOUNT_PATH,
  sessions: `${ACCOUNT_PATH}/sessions`,
  password: `${ACCOUNT_PATH}/password`,
  totp: `${ACCOUNT_PATH}/totp`,
  certificates: `${ACCOUNT_PATH}/certificates`,
}
export const SIGN_OUT_PATH = `${ACCOUNT_PATH}/sign-out`

/** The token that a form must send back, by its target (D-162). */
export type FormToken = (path: string) => string

/** What all pages share. */
export interface Frame {
  readonly name: string
  readonly formToken: FormToken
  /** What has just happened: shown once, with the focus (D-182). */
  readonly note: Note | undefined
}

export interface AccountLayout {
  readonly page: AccountPage
  /** The heading, if it differs from the menu. */
  readonly title?: string
  readonly content: SafeHtml
  /** Why the last attempt failed. */
  readonly error?: string | undefined
}

export function accountLayout(
  { name, formToken, note }: Frame,
  { page, title, content, error }: AccountLayout,
): SafeHtml {
  const heading = title ?? TITLES[page]
  const links = (Object.keys(TITLES) as AccountPage[]).map((one) => {
    const current = one === page ? html` aria-current="page"` : undefined
    return html`<li><a href="${PAGE_PATHS[one]}"${current}>${TITLES[one]}</a></li>\n`
  })
  return frame({
    title: titleOf(`${heading} – ${ACCOUNT.title}`, error),
    look: 'account',
    content: html`<a class="skip" href="#content">${ACCOUNT.skip}</a>
<header class="top">
${MARK}
<p><bdi>${name}</bdi></p>
${form(formToken, SIGN_OUT_PATH, html`<button class="quiet" type="submit">${ACCOUNT.signOut}</button>`)}
</header>
<nav class="menu" aria-label="${ACCOUNT.pages}"><ul>
${links}</ul></nav>
<main id="content" tabindex="-1">
<h1>${heading}</h1>
${note === undefined ? undefined : html`<p class="note-done" tabindex="-1" autofocus role="status">${NOTES[note]}</p>\n`}${content}
</main>`,
  })
}

/** A form with its token. `content` has the fields and the button. */
export function form(formToken: FormToken, action: string, content: SafeHtml): SafeHtml {
  return html`<form method="post" action="${action}">
<input type="hidden" name="formToken" value="${formToken(action)}">
${content}
</form>`
}

/** `account`: with a menu; `card`: like a page of the login. */
export function frame(page: {
  readonly title: string
  readonly look: 'account' | 'card'
  readonly content: SafeHtml
}): SafeHtml {
  return wholePage({ ...page, icon: ICON, stylesheet: ACCOUNT_STYLESHEET })
}
