/** An identity file made in the browser (D-377), or the way to one with a program. */
import { html, type SafeHtml } from '../login/html.ts'
import type { Presentation } from '../login/presentation.ts'
import { INVITE_PATHS, inviteLayout, shownName, tokenForm } from './layout.ts'
import { inProgram, programSteps } from './program.ts'
import { MAKE_IDENTITY_FILE } from './scripts/make-identity-file.ts'

export interface IdentityFilePage {
  readonly token: string
  readonly name: string
  /** The common name of the request. */
  readonly identityId: string
}

/** The parts with `data-shown` take turns; the script shows them. */
export function identityFilePage(presentation: Presentation, page: IdentityFilePage): SafeHtml {
  const { say, fill } = presentation
  const { token, name, identityId } = page
  const file = `${fileName(name)}.json`
  const button = html`<button type="submit">${say('identityFile.submit')}</button>`
  const making = tokenForm(
    INVITE_PATHS.certificate,
    token,
    button,
    html` data-identity="${identityId}"`,
  )
  return inviteLayout(presentation, {
    title: say('identityFile.title'),
    content: html`<p>${fill('identityFile.message', { name: shownName(name) })}</p>
<p class="warning">${say('identityFile.secret')}</p>
<div data-shown="scripts"><p>${say('identityFile.scripts')}</p></div>
<div data-shown="failed" hidden><p class="alert" role="alert" tabindex="-1">${say('identityFile.failed')}</p></div>
<div data-shown="gone" hidden><p class="alert" role="alert" tabindex="-1">${say('identityFile.gone')}</p></div>
<div data-shown="ready" hidden>${making}</div>
<div data-shown="done" hidden>
<h2 class="done" tabindex="-1">${say('identityFile.done')}</h2>
<p>${say('identityFile.save')}</p>
<p><a class="choice only" download="${file}">${say('identityFile.again')}</a></p>
<p>${say('identityFile.next')}</p>
<pre class="command" tabindex="0">chmod 600 ${file}
latchkey login --identity ${file}</pre>
</div>${inProgram(presentation, token, `latchkey enroll invitation.jwt --out ${file}`)}`,
    script: MAKE_IDENTITY_FILE,
  })
}

/** A certificate of another CA is registered over a connection that presents it, which a page cannot make. */
export function certificatePage(
  presentation: Presentation,
  { token, name }: Omit<IdentityFilePage, 'identityId'>,
): SafeHtml {
  const { say, fill } = presentation
  return inviteLayout(presentation, {
    title: say('ownCertificate.title'),
    content: html`<p>${fill('ownCertificate.message', { name: shownName(name) })}</p>
${programSteps(presentation, token, 'latchkey enroll invitation.jwt --cert certificate.pem --key key.pem')}`,
  })
}

/** Only characters that every file system and every shell takes as they are. */
function fileName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^[.-]+|-+$/g, '')
  return plain.slice(0, 64) || 'identity'
}
