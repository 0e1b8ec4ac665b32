/**
 * The policy also requires a token of an identity provider (D-14, D-156): the page with the link to it, also after a
 * failed attempt.
 */
import { alert } from '../alert.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import type { Presentation } from '../presentation.ts'
import { type SignerLink, signerLink } from '../signer-links.ts'

export interface SecondProofPage {
  readonly link: SignerLink
  /** Why the last attempt failed. */
  readonly error?: string | undefined
}

export function secondProofPage(presentation: Presentation, page: SecondProofPage): SafeHtml {
  const { say } = presentation
  const { link, error } = page
  return layout(presentation, {
    title: say('secondProof.title'),
    error,
    // The page belongs to one step of the login, which an address cannot repeat.
    address: 'none',
    content: html`<p>${say('secondProof.message')}</p>
${alert(error, 'focused')}${signerLink(presentation, link, 'choice only')}`,
  })
}
