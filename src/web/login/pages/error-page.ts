/** The page for a request that cannot continue and has no address to redirect to (D-5, D-11). */
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { type ErrorText, REQUEST_ID } from '../texts.ts'

export interface ErrorPage extends ErrorText {
  /** Also in the log line of the request (D-39). */
  readonly requestId: string
}

export function errorPage({ title, message, requestId }: ErrorPage): SafeHtml {
  return layout({
    title,
    content: html`<p>${message}</p>
<p class="reference">${REQUEST_ID}: <code>${requestId}</code></p>`,
  })
}
