/** Who is signing in to what: shown on every page of a login, so that a user notices the wrong one. D-346. */
import { html, type SafeHtml } from './html.ts'
import { loginAddress } from './login-address.ts'
import type { Presentation } from './presentation.ts'

export function signingInLine({ say, fill, signingIn }: Presentation): SafeHtml | undefined {
  if (signingIn === undefined) return undefined
  const { to, as } = signingIn
  const host = to.kind === 'site' && html`<strong>${to.host}</strong>`
  if (as === undefined) {
    const line = to.kind === 'site' ? fill('signingIn.site', { host }) : say(`signingIn.${to.kind}`)
    return html`<p class="signing-in">${line}</p>\n`
  }
  const name = html`<strong><bdi>${as.name}</bdi></strong>`
  const line =
    to.kind === 'site'
      ? fill('signingIn.siteAs', { host, name })
      : fill(`signingIn.${to.kind}As`, { name })
  const other = loginAddress('username', as.authRequestId)
  return html`<p class="signing-in">${line} <a href="${other}">${say('signingIn.other')}</a></p>\n`
}
