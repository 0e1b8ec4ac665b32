/** The pages of a logout: the question, if no hint named the session (D-242), and the result (D-30). */
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { NOT_SIGNED_IN, SIGN_OUT, SIGNED_OUT } from '../texts.ts'

export interface SignOutPage {
  /** The name of the account. */
  readonly name: string
  /** Where the confirmation is posted to, with all fields that it must contain. */
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  /** Where a user goes who stays signed in. */
  readonly stay: string
}

export function signOutPage({ name, action, fields, stay }: SignOutPage): SafeHtml {
  const hidden = Object.entries(fields).map(
    ([field, value]) => html`<input type="hidden" name="${field}" value="${value}">\n`,
  )
  return layout({
    title: SIGN_OUT.title,
    content: html`<p>${SIGN_OUT.signedInAs} <strong><bdi>${name}</bdi></strong>. ${SIGN_OUT.others}</p>
<form method="post" action="${action}">
${hidden}<button type="submit">${SIGN_OUT.submit}</button>
</form>
<p class="instead"><a href="${stay}">${SIGN_OUT.stay}</a></p>`,
  })
}

export function signedOutPage(): SafeHtml {
  return layout({ title: SIGNED_OUT.title, content: html`<p>${SIGNED_OUT.message}</p>` })
}

/** There was no session to end, and the page does not claim that it ended one. */
export function notSignedInPage(): SafeHtml {
  return layout({
    title: NOT_SIGNED_IN.title,
    content: html`<p>${NOT_SIGNED_IN.message}</p>
<p class="note">${NOT_SIGNED_IN.others}</p>`,
  })
}
