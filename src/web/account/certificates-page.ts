/** GET /account/certificates: the certificate that a user, or one of their programs, signs in with. Read-only. */
import type { Instant } from '../../base/time/instant.ts'
import { html, type SafeHtml } from '../login/html.ts'
import type { Presentation } from '../login/presentation.ts'
import { accountLayout, type Frame } from './layout.ts'
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
  const { presentation } = frame
  const { say } = presentation
  return accountLayout(frame, {
    page: 'certificates',
    content:
      certificates.length === 0
        ? html`<p>${say('certificates.none')}</p>`
        : html`<p>${say('certificates.message')}</p>
${certificates.map((one) => facts(presentation, one))}`,
  })
}

function facts(presentation: Presentation, certificate: ShownCertificate): SafeHtml {
  const { say } = presentation
  const { fingerprint, notBefore, notAfter, isExpired, isIssuedByNetwork } = certificate
  const { renewalFingerprint } = certificate
  return html`<dl class="facts wide">
<dt>${say('certificates.fingerprint')}</dt><dd>${grouped(fingerprint)}</dd>
<dt>${say('certificates.from')}</dt><dd>${when(presentation, notBefore)}</dd>
<dt>${say('certificates.until')}</dt><dd>${when(presentation, notAfter)}${isExpired && html` <span class="badge bad">${say('certificates.expired')}</span>`}</dd>
<dt>${say('certificates.by')}</dt><dd>${isIssuedByNetwork ? say('certificates.network') : say('certificates.others')}</dd>
${renewalFingerprint !== undefined && html`<dt>${say('certificates.renewal')}</dt><dd>${grouped(renewalFingerprint)}</dd>\n`}</dl>
${renewalFingerprint !== undefined && html`<p>${say('certificates.renewing')}</p>\n`}<p class="note">${isIssuedByNetwork ? say('certificates.programs') : say('certificates.elsewhere')}</p>
`
}

/** Groups are separated by style, not by spaces, so that the copied text has none. */
function grouped(fingerprint: string): SafeHtml {
  const groups = fingerprint.match(/.{1,8}/g) ?? []
  return html`<code class="key">${groups.map((group) => html`<span>${group}</span>`)}</code>`
}
