/** The same invitation for a program: the JWT as a file, and the command that takes it. */
import { html, type SafeHtml } from '../login/html.ts'
import type { Presentation } from '../login/presentation.ts'
import { INVITE_PATHS, tokenForm } from './layout.ts'

/** Folded, under the form of the page. */
export function inProgram(presentation: Presentation, token: string, command: string): SafeHtml {
  return html`\n<details>
<summary>${presentation.say('program.title')}</summary>
${programSteps(presentation, token, command)}
</details>`
}

export function programSteps({ say }: Presentation, token: string, command: string): SafeHtml {
  const button = html`<button class="quiet" type="submit">${say('program.save')}</button>`
  return html`<p>${say('program.message')}</p>
${tokenForm(INVITE_PATHS.jwt, token, button)}
<pre class="command" tabindex="0">${command}</pre>
<p>${say('program.others')}</p>`
}
