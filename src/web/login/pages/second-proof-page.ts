/**
 * The policy also requires a token of an identity provider (D-14, D-156): the page with the link to it, also after a
 * failed attempt.
 */
import { alert } from '../alert.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { type SignerLink, signerLink } from '../signer-links.ts'
import { SECOND_PROOF } from '../texts.ts'

export interface SecondProofPage {
  readonly link: SignerLink
  /** Why the last attempt failed. */
  readonly error?: string
}

export function secondProofPage({ link, error }: SecondProofPage): SafeHtml {
  return layout({
    title: SECOND_PROOF.title,
    error,
    content: html`<p>${SECOND_PROOF.message}</p>
${alert(error, 'focused')}${signerLink(link, 'choice only')}`,
  })
}
