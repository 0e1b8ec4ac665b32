/** What a person sees after a logout that leads nowhere else (D-30). */
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { SIGNED_OUT } from '../texts.ts'

export function signedOutPage(): SafeHtml {
  return layout({ title: SIGNED_OUT.title, content: html`<p>${SIGNED_OUT.message}</p>` })
}
