/** Pages of the console with a single message: signed out, not an administrator, refused. */
import { ACCOUNT_PATH, type FormToken, form } from '../account/layout.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { MARK } from '../login/layout.ts'
import { CONSOLE_TITLE, wholeConsolePage } from './layout.ts'
import { CONSOLE_PATH, CONSOLE_SIGN_OUT_PATH } from './navigation.ts'

export function consoleSignedOutPage(): SafeHtml {
  return messagePage({
    title: 'Signed out',
    message: 'You can close this window.',
    rest: html`<p><a href="${CONSOLE_PATH}">Sign in again</a></p>`,
  })
}

/** For a user who is signed in and is not an administrator. */
export function notAdministratorPage(name: string, formToken: FormToken): SafeHtml {
  return messagePage({
    title: 'Only for administrators',
    message: html`You are signed in as <strong><bdi>${name}</bdi></strong>, who is not an administrator. Sign out to use another account, or ask an administrator for access.`,
    rest: html`${signOut(formToken)}
<p><a href="${ACCOUNT_PATH}">Your account</a></p>`,
  })
}

/** D-52: the policy requires a JWT with every call, which a page cannot send. */
export function consoleBlockedPage(formToken: FormToken): SafeHtml {
  return messagePage({
    title: 'Not available for your account',
    message:
      'Your account needs a confirmation from an identity provider with every request, which a browser cannot send. Use the command line instead, or an administrator account with another policy.',
    rest: signOut(formToken),
  })
}

export interface ConsoleFailurePage {
  readonly title: string
  readonly message: string
  readonly requestId: string
  readonly back: string
}

export function consoleFailurePage(page: ConsoleFailurePage): SafeHtml {
  const { title, message, requestId, back } = page
  return messagePage({
    title,
    message,
    rest: html`<p><a href="${back}">Go back</a></p>
<p class="reference">Request ID: <code>${requestId}</code></p>`,
  })
}

function signOut(formToken: FormToken): SafeHtml {
  return form(formToken, CONSOLE_SIGN_OUT_PATH, html`<button type="submit">Sign out</button>`)
}

function messagePage(page: {
  readonly title: string
  readonly message: string | SafeHtml
  readonly rest: SafeHtml
}): SafeHtml {
  const { title, message, rest } = page
  return wholeConsolePage({
    title: `${title} – ${CONSOLE_TITLE}`,
    look: 'card',
    content: html`<main>
${MARK}
<h1>${title}</h1>
<p>${message}</p>
${rest}
</main>`,
  })
}
