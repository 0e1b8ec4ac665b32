/**
 * The choice of an identity provider: GET /oidc/login/ext-jwt (SPEC Primary login; D-47). If a browser can be sent to
 * none of them, the page lists whose tokens an application may send. The password is offered, as on the certificate
 * page (D-6).
 */
import { alert } from '../alert.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { passwordLink } from '../password-link.ts'
import { type SignerChoice, signerLinks } from '../signer-links.ts'
import { EXT_JWT } from '../texts.ts'

export interface ExtJwtPage {
  readonly authRequestId: string
  readonly choice: SignerChoice
  /** The names of all signers whose tokens are accepted. */
  readonly names: readonly string[]
  /** Why the last attempt failed. */
  readonly error?: string
}

export function extJwtPage({ authRequestId, choice, names, error }: ExtJwtPage): SafeHtml {
  const failed = alert(error, 'focused')
  return layout({
    title: EXT_JWT.title,
    error,
    content: html`${choice.links.length > 0 ? chooser(choice, failed) : byApplication(names, failed)}
${passwordLink(authRequestId)}`,
  })
}

function chooser(choice: SignerChoice, failed: SafeHtml | undefined): SafeHtml {
  return html`<p>${EXT_JWT.choose}</p>
${failed}${signerLinks(choice)}`
}

function byApplication(names: readonly string[], failed: SafeHtml | undefined): SafeHtml {
  if (names.length === 0) return html`<p>${EXT_JWT.none}</p>\n${failed}`
  return html`<p>${EXT_JWT.message}</p>
<ul class="names">
${names.map((name) => html`<li>${name}</li>\n`)}</ul>
${failed}`
}
