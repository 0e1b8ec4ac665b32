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
}

export function errorPage(presentation: Presentation, page: ErrorPage): SafeHtml {
  const { title, message, requestId, restart } = page
  const again =
    restart === undefined
      ? undefined
      : html`<p><a class="choice only" href="${restart}">${presentation.say('ended.restart')}</a></p>\n`
  return layout(presentation, {
    title,
    // A switch of languages would repeat the query, and with it what was refused.
    ...(presentation.address?.includes('?') === true ? { address: 'none' } : {}),
    content: html`<p>${message}</p>
${again}<p class="reference">${presentation.say('requestId.label')}: <code>${requestId}</code></p>`,
  })
}
