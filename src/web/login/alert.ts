/** Why the last attempt failed, announced by screen readers as soon as the page opens (D-182). */
import { html, type SafeHtml } from './html.ts'

/** `focused`: there is no field to correct, so the alert gets the focus. */
export function alert(error: string | undefined, focused?: 'focused'): SafeHtml | undefined {
  if (error === undefined) return undefined
  const focus = focused !== undefined && html` tabindex="-1" autofocus`
  return html`<p class="alert" id="error"${focus} role="alert">${error}</p>\n`
}
