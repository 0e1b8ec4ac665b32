/** The same invitation for a program: the JWT as a file, and the command that takes it. */
import { html, type SafeHtml } from '../login/html.ts'
import { INVITE_PATHS, tokenForm } from './layout.ts'
import { PROGRAM } from './texts.ts'

/** Folded, under the form of the page. */
export function inProgram(token: string, command: string): SafeHtml {
  return html`\n<details>
<summary>${PROGRAM.title}</summary>
${programSteps(token, command)}
</details>`
}

export function programSteps(token: string, command: string): SafeHtml {
  const button = html`<button class="quiet" type="submit">${PROGRAM.save}</button>`
  return html`<p>${PROGRAM.message}</p>
${tokenForm(INVITE_PATHS.jwt, token, button)}
<pre class="command" tabindex="0">${command}</pre>
<p>${PROGRAM.openziti}</p>`
}
