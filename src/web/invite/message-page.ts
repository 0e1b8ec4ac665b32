/** A link that cannot be used: why, and the way on. */
import { accountErrorText, type ErrorText } from '../login/error-text.ts'
import { html, type SafeHtml } from '../login/html.ts'
import type { Presentation } from '../login/presentation.ts'
import { isTextKey } from '../texts/languages.ts'
import { INVITE_PATHS, inviteLayout } from './layout.ts'

/** `disabled`: the account. Codes that are not about the link are said as on the account pages. */
export function inviteErrorText(presentation: Presentation, code: string | 'disabled'): ErrorText {
  const title = `inviteError.${code}.title`
  const message = `inviteError.${code}.message`
  return isTextKey(title) && isTextKey(message)
    ? { title: presentation.template(title), message: presentation.template(message) }
    : accountErrorText(presentation, code)
}

export function inviteMessagePage(
  presentation: Presentation,
  page: ErrorText & {
    readonly requestId: string
    /** The link may have been copied in part, so it can be pasted again. */
    readonly isUnknown: boolean
  },
): SafeHtml {
  const { say } = presentation
  const { title, message, requestId, isUnknown } = page
  return inviteLayout(presentation, {
    title,
    content: html`<p>${message}</p>
${isUnknown ? html`<p><a class="choice only" href="${INVITE_PATHS.open}">${say('inviteError.again')}</a></p>\n` : undefined}<p><a href="/account">${say('inviteError.signIn')}</a></p>
<p class="reference">${say('requestId.label')}: <code>${requestId}</code></p>`,
  })
}
