/**
 * The response to the client as a form that the browser posts (OAuth 2.0 Form Post Response Mode §2; D-11). One script
 * posts it; without scripts, the user presses the button.
 */
import { sha256 } from '../../../base/encoding.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { FORM_POST } from '../texts.ts'

export interface FormPostPage {
  /** The redirect URI of the auth request, which was checked at its beginning (R020). */
  readonly action: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}

export function formPostPage({ action, fields }: FormPostPage): SafeHtml {
  const inputs = fields.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`,
  )
  return layout({
    title: FORM_POST.title,
    content: html`<p>${FORM_POST.message}</p>
<form method="post" action="${action}">
${inputs}<button type="submit">${FORM_POST.submit}</button>
</form>
<script>${SCRIPT}</script>`,
  })
}

const SCRIPT = html`document.forms[0].submit()`

/** For `script-src` of the content security policy: only this script (D-50). */
export const FORM_POST_SCRIPT_SOURCE = `'sha256-${Buffer.from(sha256(SCRIPT.toString())).toString('base64')}'`
