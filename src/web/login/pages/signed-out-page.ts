/** The pages of a logout: the question, if no hint named the session (D-242), and the result (D-30). */
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import type { Presentation } from '../presentation.ts'
import { endNote, type ShownEnd } from './shown-end.ts'

export interface SignOutPage {
  /** The name of the account. */
  readonly name: string
  /** Where the confirmation is posted to, with all fields that it must contain. */
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  /** Where a user goes who stays signed in. */
  readonly stay: string
}

export function signOutPage(presentation: Presentation, page: SignOutPage): SafeHtml {
  const { say, fill } = presentation
  const { name, action, fields, stay } = page
  const hidden = Object.entries(fields).map(
    ([field, value]) => html`<input type="hidden" name="${field}" value="${value}">\n`,
  )
  return layout(presentation, {
    title: say('signOut.title'),
    content: html`<p>${fill('signOut.signedInAs', { name: html`<strong><bdi>${name}</bdi></strong>` })} ${say('signOut.others')}</p>
<form method="post" action="${action}">
${hidden}<button type="submit">${say('signOut.submit')}</button>
</form>
<p class="instead"><a href="${stay}">${say('signOut.stay')}</a></p>`,
  })
}

/** `account`: the address of the account page. */
export function signedOutPage(
  presentation: Presentation,
  account: string,
  end?: ShownEnd,
): SafeHtml {
  const { say } = presentation
  return layout(presentation, {
    title: say('signedOut.title'),
    // The address may carry the hint that ended the session; it is not sent again.
    address: 'none',
    content: html`<p>${say('signedOut.message')}</p>${endNote(presentation, end)}
${wayOn(presentation, account)}`,
  })
}

/** There was no session to end, and the page does not claim that it ended one. */
export function notSignedInPage(presentation: Presentation, account: string): SafeHtml {
  const { say } = presentation
  return layout(presentation, {
    title: say('notSignedIn.title'),
    content: html`<p>${say('notSignedIn.message')}</p>
<p class="note">${say('notSignedIn.others')}</p>
${wayOn(presentation, account)}`,
  })
}

/** Without the address of an application, the account is where a user can go on. The address may carry the hint. */
function wayOn({ say }: Presentation, account: string): SafeHtml {
  return html`<p class="note"><a href="${account}" rel="noreferrer">${say('signOut.account')}</a></p>`
}
