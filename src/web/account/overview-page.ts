/** GET /account: an overview with a link to each page. */
import type { Instant } from '../../base/time/instant.ts'
import { type HtmlValue, html, type SafeHtml } from '../login/html.ts'
import type { Presentation } from '../login/presentation.ts'
import { type AccountPage, accountLayout, type Frame, PAGE_PATHS } from './layout.ts'
import { programOf } from './program.ts'
import { when } from './when.ts'

export interface OverviewPage {
  /** The newest of the open sessions. */
  readonly lastSignIn:
    | { readonly at: Instant; readonly address: string; readonly userAgent: string | undefined }
    | undefined
  readonly sessions: number
  readonly hasPassword: boolean
  /** Undefined if there is no app. */
  readonly recoveryCodesLeft: number | undefined
  readonly passkeys: number
  /** Of an administrator, on a listener that has the console; else undefined. */
  readonly consolePath: string | undefined
  readonly certificate: { readonly notAfter: Instant; readonly isExpired: boolean } | undefined
}

export function overviewPage(frame: Frame, page: OverviewPage): SafeHtml {
  const {
    lastSignIn,
    sessions,
    hasPassword,
    recoveryCodesLeft,
    passkeys,
    consolePath,
    certificate,
  } = page
  const { presentation } = frame
  const { say, fill, count } = presentation
  const entry = (
    to: Exclude<AccountPage, 'overview'>,
    state: string | SafeHtml,
    badge?: HtmlValue,
  ) =>
    html`<li>
<h2><a href="${PAGE_PATHS[to]}">${say(`page.${to}`)}</a>${badge}</h2>
<p>${state}</p>
</li>
`
  return accountLayout(frame, {
    page: 'overview',
    content: html`<p>${fill('overview.signedInAs', { name: html`<bdi>${frame.name}</bdi>` })}${lastSignIn !== undefined && html` ${lastLine(presentation, lastSignIn)}`}</p>
<ul class="entries">
${entry('sessions', count('overview.sessions', sessions))}${entry('password', say(hasPassword ? 'overview.password' : 'overview.noPassword'))}${entry(
  'totp',
  totpState(presentation, recoveryCodesLeft),
  badge(
    presentation,
    recoveryCodesLeft === undefined ? 'off' : recoveryCodesLeft === 0 ? 'warn' : 'on',
  ),
)}${entry(
  'passkeys',
  passkeys === 0 ? say('overview.noPasskeys') : count('overview.passkeys', passkeys),
  badge(presentation, passkeys === 0 ? 'off' : 'on'),
)}${entry(
  'certificates',
  certificate === undefined
    ? say('overview.noCertificate')
    : fill(certificate.isExpired ? 'overview.certificateExpired' : 'overview.certificate', {
        time: when(presentation, certificate.notAfter),
      }),
  certificate?.isExpired && badge(presentation, 'warn'),
)}${
  consolePath !== undefined &&
  html`<li>
<h2><a href="${consolePath}">${say('overview.console')}</a></h2>
<p>${say('overview.consoleState')}</p>
</li>
`
}</ul>`,
  })
}

function totpState({ say }: Presentation, recoveryCodesLeft: number | undefined): string {
  if (recoveryCodesLeft === undefined) return say('overview.noTotp')
  return recoveryCodesLeft === 0
    ? say('overview.totpNoCodes')
    : say('overview.totp', { count: recoveryCodesLeft })
}

/** Color is never alone: the badge says it in a word. */
function badge({ say }: Presentation, state: 'on' | 'off' | 'warn'): SafeHtml {
  return html` <span class="badge${state === 'warn' ? ' bad' : ''}">${say(`badge.${state}`)}</span>`
}

function lastLine(
  presentation: Presentation,
  { at, address, userAgent }: NonNullable<OverviewPage['lastSignIn']>,
): SafeHtml {
  const program = html`<bdi>${programOf(presentation, userAgent)}</bdi>`
  return presentation.fill('overview.lastSignIn', {
    time: when(presentation, at),
    program,
    address,
  })
}
