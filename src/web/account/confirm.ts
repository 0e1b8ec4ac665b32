/** Replaces a form that needs a fresh login: a link to the login, which leads back here (D-162). */
import { html, type SafeHtml } from '../login/html.ts'
import { ACCOUNT_PATH, type AccountPage } from './layout.ts'
import { CONFIRM } from './texts.ts'

export const CONFIRM_PATH = `${ACCOUNT_PATH}/confirm`

export function confirmFirst(page: AccountPage): SafeHtml {
  return html`<section class="confirm">
<h2>${CONFIRM.title}</h2>
<p>${CONFIRM.message}</p>
<p class="onward"><a class="choice only" href="${CONFIRM_PATH}?page=${page}">${CONFIRM.submit}</a></p>
</section>`
}
