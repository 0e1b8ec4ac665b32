/** GET /account: an overview with a link to each page. */
import type { Instant } from '../../base/time/instant.ts'
import { html, type SafeHtml } from '../login/html.ts'
import type { Presentation } from '../login/presentation.ts'
import { type AccountPage, accountLayout, type Frame, PAGE_PATHS } from './layout.ts'
import { when } from './when.ts'

export interface OverviewPage {
  readonly sessions: number
  readonly hasPassword: boolean
  /** Undefined if there is no app. */
  readonly recoveryCodesLeft: number | undefined
  readonly certificate: { readonly notAfter: Instant; readonly isExpired: boolean } | undefined
}

export function overviewPage(frame: Frame, page: OverviewPage): SafeHtml {
  const { sessions, hasPassword, recoveryCodesLeft, certificate } = page
  const { presentation } = frame
  const { say, fill, count } = presentation
  const entry = (to: Exclude<AccountPage, 'overview'>, state: string | SafeHtml) =>
    html`<li>
<h2><a href="${PAGE_PATHS[to]}">${say(`page.${to}`)}</a></h2>
<p>${state}</p>
</li>
`
  return accountLayout(frame, {
    page: 'overview',
    content: html`<p>${fill('overview.signedInAs', { name: html`<bdi>${frame.name}</bdi>` })}</p>
<ul class="entries">
${entry('sessions', count('overview.sessions', sessions))}${entry('password', say(hasPassword ? 'overview.password' : 'overview.noPassword'))}${entry(
  'totp',
  totpState(presentation, recoveryCodesLeft),
)}${entry(
  'certificates',
  certificate === undefined
    ? say('overview.noCertificate')
    : fill(certificate.isExpired ? 'overview.certificateExpired' : 'overview.certificate', {
        time: when(presentation, certificate.notAfter),
      }),
)}</ul>`,
  })
}

function totpState({ say }: Presentation, recoveryCodesLeft: number | undefined): string {
  if (recoveryCodesLeft === undefined) return say('overview.noTotp')
  return recoveryCodesLeft === 0
    ? say('overview.totpNoCodes')
    : say('overview.totp', { count: recoveryCodesLeft })
}
