/** The page for a request that cannot continue and has no address to redirect to (D-5, D-11). */
import type { ErrorText } from '../error-text.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import type { Presentation } from '../presentation.ts'

export interface ErrorPage extends ErrorText {
  /** Also in the log line of the request (D-39). */
  readonly requestId: string
  /** Where the login starts again, if it was ours (D-344). */
  readonly restart?: string
  /** Where a user goes who came to an address that is not a page. */
  readonly start?: string | undefined
}

export function errorPage(presentation: Presentation, page: ErrorPage): SafeHtml {
  const { title, message, requestId, restart, start } = page
  const { say } = presentation
  const again =
    restart !== undefined &&
    html`<p><a class="choice only" href="${restart}">${say('ended.restart')}</a></p>\n`
  return layout(presentation, {
    title,
    // R108: the switch between languages would send the address back, with whatever the caller put into it.
    address: 'none',
    content: html`<p>${message}</p>
${again}${start !== undefined && html`<a class="choice only start" href="${start}">${say('errorPage.start')}</a>\n`}<p class="reference">${say('requestId.label')}: <code>${requestId}</code></p>`,
  })
}
