/** The pages of the gateway: why the browser did not reach the page, and what its user can do. */
import { html, type SafeHtml } from '../login/html.ts'
import { layout } from '../login/layout.ts'
import type { Presentation } from '../login/presentation.ts'

export interface GatewayPage {
  readonly title: string
  readonly message: SafeHtml | string
  /** Where to continue. */
  readonly link?: { readonly to: string; readonly label: string } | undefined
  /** A form with nothing but a button. */
  readonly button?: { readonly action: string; readonly label: string } | undefined
  readonly instead?: { readonly to: string; readonly label: string } | undefined
  /** Also in the log line of the request (D-39). */
  readonly requestId?: string | undefined
}

export function gatewayPage(presentation: Presentation, page: GatewayPage): SafeHtml {
  const { title, message, link, button, instead, requestId } = page
  const { say } = presentation
  const isOnly = link === undefined && button === undefined
  return layout(presentation, {
    title,
    address: 'none',
    content: html`<p>${message}</p>
${link !== undefined && html`<p><a class="choice only" href="${link.to}">${link.label}</a></p>\n`}${
  button !== undefined &&
  html`<form method="post" action="${button.action}">
<button type="submit">${button.label}</button>
</form>\n`
}${
  instead !== undefined &&
  (requestId === undefined
    ? html`<p class="${isOnly ? 'note' : 'instead'}"><a href="${instead.to}">${instead.label}</a></p>\n`
    : html`<p><a class="choice${isOnly ? ' only' : ''}" href="${instead.to}">${instead.label}</a></p>\n`)
}${
  requestId !== undefined &&
  html`<p class="reference">${say('requestId.label')}: <code>${requestId}</code></p>`
}`,
  })
}
