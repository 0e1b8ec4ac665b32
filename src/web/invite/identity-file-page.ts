/** An identity file made in the browser (D-377), or the way to one with a program. */
import { html, type SafeHtml } from '../login/html.ts'
import { INVITE_PATHS, inviteLayout, tokenForm } from './layout.ts'
import { inProgram, programSteps } from './program.ts'
import { MAKE_IDENTITY_FILE } from './scripts/make-identity-file.ts'
import { CERTIFICATE, IDENTITY_FILE } from './texts.ts'

export interface IdentityFilePage {
  readonly token: string
  readonly name: string
  /** The common name of the request. */
  readonly identityId: string
}

/** The parts with `data-shown` take turns; the script shows them. */
export function identityFilePage({ token, name, identityId }: IdentityFilePage): SafeHtml {
  const file = `${fileName(name)}.json`
  const button = html`<button type="submit">${IDENTITY_FILE.submit}</button>`
  const making = tokenForm(
    INVITE_PATHS.certificate,
    token,
    button,
    html` data-identity="${identityId}"`,
  )
  return inviteLayout({
    title: IDENTITY_FILE.title,
    content: html`<p>${IDENTITY_FILE.message(name)}</p>
<p class="warning">${IDENTITY_FILE.secret}</p>
<noscript><p>${IDENTITY_FILE.scripts}</p></noscript>
<div data-shown="failed" hidden><p class="alert" role="alert" tabindex="-1">${IDENTITY_FILE.failed}</p></div>
<div data-shown="gone" hidden><p class="alert" role="alert" tabindex="-1">${IDENTITY_FILE.gone}</p></div>
<div data-shown="ready" hidden>${making}</div>
<div data-shown="done" hidden>
<h2 class="done" tabindex="-1">${IDENTITY_FILE.done}</h2>
<p>${IDENTITY_FILE.save}</p>
<p><a class="choice only" download="${file}">${IDENTITY_FILE.again}</a></p>
<p>${IDENTITY_FILE.next}</p>
<pre class="command" tabindex="0">latchkey login --identity ${file}</pre>
</div>${inProgram(token, `latchkey enroll invitation.jwt --out ${file}`)}`,
    script: MAKE_IDENTITY_FILE,
  })
}

/** A certificate of another CA is registered over a connection that presents it, which a page cannot make. */
export function certificatePage({ token, name }: Omit<IdentityFilePage, 'identityId'>): SafeHtml {
  return inviteLayout({
    title: CERTIFICATE.title,
    content: html`<p>${CERTIFICATE.message(name)}</p>
${programSteps(token, 'latchkey enroll invitation.jwt --cert certificate.pem --key key.pem')}`,
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
