/**
 * What a person sees at GET /oidc/login/ext-jwt: this login is the application's to finish, with a token of one of
 * these identity providers (SPEC Primary login). The password is offered, as on the certificate page (D-6).
 */
import { html, type SafeHtml } from './html.ts'
import { layout } from './layout.ts'
import { passwordLink } from './password-link.ts'
import { EXT_JWT } from './texts.ts'

export interface ExtJwtPage {
  readonly authRequestId: string
  readonly signers: readonly { readonly name: string }[]
}

export function extJwtPage({ authRequestId, signers }: ExtJwtPage): SafeHtml {
  const names = signers.map(({ name }) => html`<li>${name}</li>\n`)
  const content =
    names.length === 0
      ? html`<p>${EXT_JWT.none}</p>`
      : html`<p>${EXT_JWT.message}</p>
<ul class="names">
${names}</ul>`
  return layout({ title: EXT_JWT.title, content: html`${content}\n${passwordLink(authRequestId)}` })
}
