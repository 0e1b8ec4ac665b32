/**
 * The response to the client as a form that the browser posts (OAuth 2.0 Form Post Response Mode §2; D-11). One script
 * posts it; without scripts, the user presses the button.
 */

import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { inlineSource } from '../look/inline-source.ts'
import type { Presentation } from '../presentation.ts'

export interface FormPostPage {
  /** The redirect URI of the auth request, which was checked at its beginning (R020). */
  readonly action: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}

export function formPostPage(presentation: Presentation, page: FormPostPage): SafeHtml {
  const { say } = presentation
  const { action, fields } = page
  const inputs = fields.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`,
  )
  return layout(presentation, {
    title: say('formPost.title'),
    address: 'none',
    content: html`<p>${say('formPost.message')}</p>
<form method="post" action="${action}">
${inputs}<button type="submit">${say('formPost.submit')}</button>
</form>
<script>${SCRIPT}</script>`,
  })
}

const SCRIPT = html`document.forms[0].submit()`

/** For `script-src` of the content security policy: only this script (D-50). */
export const FORM_POST_SCRIPT_SOURCE = inlineSource(SCRIPT)
