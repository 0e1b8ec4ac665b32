/** The page for a request that cannot continue and has no address to redirect to (D-5, D-11). */
import type { ErrorText } from '../error-text.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import type { Presentation } from '../presentation.ts'

export interface ErrorPage extends ErrorText {
  /** Also in the log line of the request (D-39). */
  readonly requestId: string
}

export function errorPage(presentation: Presentation, page: ErrorPage): SafeHtml {
  const { title, message, requestId } = page
  return layout(presentation, {
    title,
    content: html`<p>${message}</p>
<p class="reference">${presentation.say('requestId.label')}: <code>${requestId}</code></p>`,
  })
}
