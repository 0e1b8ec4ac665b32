/** Why the last try failed, said aloud by screen readers as soon as the page is there. */
import { html, type SafeHtml } from './html.ts'

export function alert(error: string | undefined): SafeHtml | undefined {
  if (error === undefined) return undefined
  return html`<p class="alert" id="error" role="alert">${error}</p>\n`
}
