/**
 * The choice of an identity provider: GET /oidc/login/ext-jwt (SPEC Primary login; D-47). If a browser can be sent to
 * none of them, the page lists whose tokens an application may send. The password is offered, as on the certificate
 * page (D-6).
 */
import { alert } from '../alert.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { loginAddress } from '../login-address.ts'
import { passwordLink } from '../password-link.ts'
import type { Presentation } from '../presentation.ts'
import { type SignerChoice, signerLinks } from '../signer-links.ts'

export interface ExtJwtPage {
  readonly authRequestId: string
  readonly choice: SignerChoice
  /** The names of all signers whose tokens are accepted. */
  readonly names: readonly string[]
  /** Why the last attempt failed. */
  readonly error?: string | undefined
}

export function extJwtPage(presentation: Presentation, page: ExtJwtPage): SafeHtml {
  const { authRequestId, choice, names, error } = page
  const failed = alert(error, 'focused')
  return layout(presentation, {
    title: presentation.say('provider.title'),
    error,
    address: loginAddress('ext-jwt', authRequestId),
    content: html`${choice.links.length > 0 ? chooser(presentation, choice, failed) : byApplication(presentation, names, failed)}
${passwordLink(presentation, authRequestId)}`,
  })
}

function chooser(
  presentation: Presentation,
  choice: SignerChoice,
  failed: SafeHtml | undefined,
): SafeHtml {
  return html`<p>${presentation.say('provider.choose')}</p>
${failed}${signerLinks(presentation, choice)}`
}

function byApplication(
  { say }: Presentation,
  names: readonly string[],
  failed: SafeHtml | undefined,
): SafeHtml {
  if (names.length === 0) return html`<p>${say('provider.none')}</p>\n${failed}`
  return html`<p>${say('provider.message')}</p>
<ul class="names">
${names.map((name) => html`<li>${name}</li>\n`)}</ul>
${failed}`
}
