/** GET /invite. With scripts, the token in the fragment opens the page at once; without, it is pasted (D-376). */
import { html, type SafeHtml } from '../login/html.ts'
import type { Presentation } from '../login/presentation.ts'
import { INVITE_PATHS, inviteLayout } from './layout.ts'
import { OPEN_LINK } from './scripts/open-link.ts'

export function codePage(presentation: Presentation): SafeHtml {
  const { say } = presentation
  return inviteLayout(presentation, {
    title: say('link.title'),
    content: html`<p>${say('link.message')}</p>
<form method="post" action="${INVITE_PATHS.open}">
<label for="token">${say('link.label')}</label>
<input id="token" name="token" type="text" required autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" autofocus>
<button type="submit">${say('link.submit')}</button>
</form>`,
    script: OPEN_LINK,
  })
}
