/** GET /account/certificates: the certificate that a user, or one of their programs, signs in with. Read-only. */
import type { Instant } from '../../base/time/instant.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { accountLayout, type Frame } from './layout.ts'
import { CERTIFICATES } from './texts.ts'
import { when } from './when.ts'

export interface ShownCertificate {
  /** Lower-case hex. */
  readonly fingerprint: string
  readonly notBefore: Instant
  readonly notAfter: Instant
  readonly isExpired: boolean
  readonly isIssuedByNetwork: boolean
  /** The fingerprint of the pending certificate (D-130). */
  readonly renewalFingerprint: string | undefined
}

export function certificatesPage(
  frame: Frame,
  certificates: readonly ShownCertificate[],
): SafeHtml {
  return accountLayout(frame, {
    page: 'certificates',
    content:
      certificates.length === 0
        ? html`<p>${CERTIFICATES.none}</p>`
        : html`<p>${CERTIFICATES.message}</p>
${certificates.map(facts)}`,
  })
}

function facts(certificate: ShownCertificate): SafeHtml {
  const { fingerprint, notBefore, notAfter, isExpired, isIssuedByNetwork } = certificate
  const { renewalFingerprint } = certificate
  return html`<dl class="facts wide">
<dt>${CERTIFICATES.fingerprint}</dt><dd>${grouped(fingerprint)}</dd>
<dt>${CERTIFICATES.from}</dt><dd>${when(notBefore)}</dd>
<dt>${CERTIFICATES.until}</dt><dd>${when(notAfter)}${isExpired ? html` <span class="badge bad">${CERTIFICATES.expired}</span>` : undefined}</dd>
<dt>${CERTIFICATES.by}</dt><dd>${isIssuedByNetwork ? CERTIFICATES.network : CERTIFICATES.others}</dd>
${renewalFingerprint === undefined ? undefined : html`<dt>${CERTIFICATES.renewal}</dt><dd>${grouped(renewalFingerprint)}</dd>\n`}</dl>
${renewalFingerprint === undefined ? undefined : html`<p>${CERTIFICATES.renewing}</p>\n`}<p class="note">${isIssuedByNetwork ? CERTIFICATES.programs : CERTIFICATES.elsewhere}</p>
`
}

/** Groups are separated by style, not by spaces, so that the copied text has none. */
function grouped(fingerprint: string): SafeHtml {
  const groups = fingerprint.match(/.{1,8}/g) ?? []
  return html`<code class="key">${groups.map((group) => html`<span>${group}</span>`)}</code>`
}
