/** Pages with a single message: signed out, refused, not available for this account. They need no session. */
import type { ErrorText } from '../login/error-text.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { foot, mark } from '../login/layout.ts'
import { endNote, type ShownEnd } from '../login/pages/shown-end.ts'
import type { Presentation } from '../login/presentation.ts'
import { ACCOUNT_PATH, type FormToken, form, frame, SIGN_OUT_PATH } from './layout.ts'

export function signedOutPage(presentation: Presentation, end?: ShownEnd): SafeHtml {
  const { say } = presentation
  return messagePage(presentation, {
    title: say('signedOut.title'),
    message: say('signedOut.message'),
    rest: html`${endNote(presentation, end)}<p><a href="${ACCOUNT_PATH}">${say('signedOut.again')}</a></p>`,
  })
}

/** D-52: the policy requires a JWT with every call, which a page cannot send. Signing out still works. */
export function blockedPage(presentation: Presentation, formToken: FormToken): SafeHtml {
  const { say } = presentation
  const button = html`<button type="submit">${say('account.signOut')}</button>`
  return messagePage(presentation, {
    title: say('blocked.title'),
    message: say('blocked.message'),
    rest: form(formToken, SIGN_OUT_PATH, button),
  })
}

export function failurePage(
  presentation: Presentation,
  failure: ErrorText & { readonly requestId: string },
): SafeHtml {
  const { say } = presentation
  const { title, message, requestId } = failure
  return messagePage(presentation, {
    title,
    message,
    rest: html`<p><a href="${ACCOUNT_PATH}">${say('account.back')}</a></p>
<p class="reference">${say('requestId.label')}: <code>${requestId}</code></p>`,
  })
}

function messagePage(
  presentation: Presentation,
  page: ErrorText & { readonly rest: SafeHtml },
): SafeHtml {
  const { title, message, rest } = page
  return frame(presentation, {
    title: presentation.say('title.account', { title }),
    look: 'card',
    content: html`<main>
${mark(presentation)}
<h1>${title}</h1>
<p>${message}</p>
${rest}
</main>
${foot(presentation)}`,
  })
}
