/** GET /account: an overview with a link to each page. */
import type { Instant } from '../../base/time/instant.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { type AccountPage, accountLayout, type Frame, PAGE_PATHS } from './layout.ts'
import { OVERVIEW, TITLES } from './texts.ts'
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
  const entry = (to: Exclude<AccountPage, 'overview'>, state: string | SafeHtml) =>
    html`<li>
<h2><a href="${PAGE_PATHS[to]}">${TITLES[to]}</a></h2>
<p>${state}</p>
</li>
`
  const { password, totp, certificates } = OVERVIEW
  return accountLayout(frame, {
    page: 'overview',
    content: html`<p>${OVERVIEW.signedInAs} <bdi>${frame.name}</bdi>.</p>
<ul class="entries">
${entry('sessions', OVERVIEW.sessions(sessions))}${entry('password', hasPassword ? password.set : password.none)}${entry(
  'totp',
  recoveryCodesLeft === undefined ? totp.off : totp.on(recoveryCodesLeft),
)}${entry(
  'certificates',
  certificate === undefined
    ? certificates.none
    : html`${certificate.isExpired ? certificates.over : certificates.until} ${when(certificate.notAfter)}.`,
)}</ul>`,
  })
}
