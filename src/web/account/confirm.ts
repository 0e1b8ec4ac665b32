/** Replaces a form that needs a fresh login: a link to the login, which leads back here (D-162). */
import { html, type SafeHtml } from '../login/html.ts'
import type { Presentation } from '../login/presentation.ts'
import { ACCOUNT_PATH, type AccountPage } from './layout.ts'

export const CONFIRM_PATH = `${ACCOUNT_PATH}/confirm`

export function confirmFirst({ say }: Presentation, page: AccountPage): SafeHtml {
  return html`<section class="confirm">
<h2>${say('confirm.title')}</h2>
<p>${say('confirm.message')}</p>
<p class="onward"><a class="choice only" href="${CONFIRM_PATH}?page=${page}">${say('confirm.submit')}</a></p>
</section>`
}
