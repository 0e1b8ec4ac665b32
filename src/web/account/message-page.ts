/** Pages with a single message: signed out, refused, not available for this account. They need no session. */
import { html, type SafeHtml } from '../login/html.ts'
import { MARK } from '../login/layout.ts'
import { ACCOUNT_PATH, type FormToken, form, frame, SIGN_OUT_PATH } from './layout.ts'
import { ACCOUNT, BACK, BLOCKED, type MessageText, REQUEST_ID, SIGNED_OUT } from './texts.ts'

export function signedOutPage(): SafeHtml {
  const { title, message, again } = SIGNED_OUT
  return messagePage({ title, message, rest: html`<p><a href="${ACCOUNT_PATH}">${again}</a></p>` })
}

/** D-52: the policy requires a JWT with every call, which a page cannot send. Signing out still works. */
export function blockedPage(formToken: FormToken): SafeHtml {
  const button = html`<button type="submit">${ACCOUNT.signOut}</button>`
  return messagePage({ ...BLOCKED, rest: form(formToken, SIGN_OUT_PATH, button) })
}

export function failurePage(failure: MessageText & { readonly requestId: string }): SafeHtml {
  const { title, message, requestId } = failure
  return messagePage({
    title,
    message,
    rest: html`<p><a href="${ACCOUNT_PATH}">${BACK}</a></p>
<p class="reference">${REQUEST_ID}: <code>${requestId}</code></p>`,
  })
}

function messagePage(page: MessageText & { readonly rest: SafeHtml }): SafeHtml {
  const { title, message, rest } = page
  return frame({
    title: `${title} – ${ACCOUNT.title}`,
    look: 'card',
    content: html`<main>
${MARK}
<h1>${title}</h1>
<p>${message}</p>
${rest}
</main>`,
  })
}
