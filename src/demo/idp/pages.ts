/** The pages of the demo's IdP. They look like our login pages, and say that they belong to another provider. */
import type { FormFields } from '../../base/form.ts'
import { html, type SafeHtml } from '../../web/login/html.ts'
import { layout } from '../../web/login/layout.ts'
import { presentationIn } from '../../web/login/presentation.ts'
import { CARRIED } from './authorization.ts'

const ENGLISH = presentationIn('en')

/** Has an account here, but no identity at the service. */
export const STRANGER = 'stranger'

/** The user proves nothing here, and the page says so. */
export function choicePage(accounts: readonly string[], asked: FormFields): SafeHtml {
  const carried = CARRIED.flatMap((name) =>
    (asked.get(name) ?? []).map(
      (value) => html`<input type="hidden" name="${name}" value="${value}">\n`,
    ),
  )
  const people = accounts.map(
    (account) =>
      html`<li><button type="submit" name="account" value="${account}">${account}</button></li>\n`,
  )
  return layout(ENGLISH, {
    title: 'Who do you want to sign in as?',
    content: html`<p>This is the identity provider of the demo. It asks for no password.</p>
<form method="post" action="/authorize">
${carried}<ul class="choices">
${people}<li><button type="submit" name="cancel" value="yes">Cancel</button></li>
</ul>
</form>
<p class="note">The service does not know &ldquo;${STRANGER}&rdquo;.</p>`,
  })
}

export function refusedPage(why: string): SafeHtml {
  return layout(ENGLISH, {
    title: 'This does not work',
    content: html`<p>The identity provider of the demo was asked for something that it does not do: ${why}.</p>`,
  })
}
