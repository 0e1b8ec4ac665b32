/** GET /invite. With scripts, the token in the fragment opens the page at once; without, it is pasted (D-376). */
import { html, type SafeHtml } from '../login/html.ts'
import { INVITE_PATHS, inviteLayout } from './layout.ts'
import { OPEN_LINK } from './scripts/open-link.ts'
import { CODE } from './texts.ts'

export function codePage(): SafeHtml {
  return inviteLayout({
    title: CODE.title,
    content: html`<p>${CODE.message}</p>
<form method="post" action="${INVITE_PATHS.open}">
<label for="token">${CODE.label}</label>
<input id="token" name="token" type="text" required autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" autofocus>
<button type="submit">${CODE.submit}</button>
</form>`,
    script: OPEN_LINK,
  })
}
