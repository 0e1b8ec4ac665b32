/** The answer to an invitation: what to hand over. Only ever the response to the POST, because it is shown once. */
import type { Instant } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { qrCodeSvg } from '../../login/qr-code.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { IDENTITIES_PATH, identityPath } from '../navigation.ts'
import { exactTime, section } from '../parts.ts'

export interface InvitationPage {
  readonly identityId: string
  readonly name: string
  /** Whether it is a reset link, which replaces what was lost (D-375). */
  readonly isReset: boolean
  /** Undefined if this service has no page for it. */
  readonly link: string | undefined
  readonly token: string
  /** For clients that enroll with a file. */
  readonly jwt: string | undefined
  readonly expiresAt: Instant
}

export function invitationPage(frame: ConsoleFrame, page: InvitationPage): SafeHtml {
  const { identityId, name, isReset, link, token, jwt, expiresAt } = page
  return consoleLayout(frame, {
    section: IDENTITIES_PATH,
    title: `${isReset ? 'Reset link' : 'Invitation'} for ${name}`,
    content: html`<p class="confirm">This is shown once. Send it so that only <bdi>${name}</bdi> can read it: anyone who has it can ${isReset ? 'use it instead' : html`sign in as <bdi>${name}</bdi>`}. It works once, until ${exactTime(expiresAt)}.${isReset && ' Nothing changes until it is used.'}</p>
${
  link !== undefined &&
  section(
    'Link',
    html`<p class="lead">For a person with a browser. On a phone, scan the QR code.</p>
<textarea class="short" rows="2" readonly aria-label="Link" spellcheck="false" data-copy="Copy the link">${link}</textarea>
<div class="scan">${qrCodeSvg(link, 'QR code of the link')}</div>`,
  )
}${section(
  'Code',
  html`<p class="lead">${isReset ? 'To' : html`For <code>latchkey enroll</code>, or to`} be entered at <code>/invite</code>.</p>
<textarea class="short" rows="2" readonly aria-label="Code" spellcheck="false" data-copy="Copy the code">${token}</textarea>`,
)}${
  jwt !== undefined &&
  section(
    'Enrollment JWT',
    html`<p class="lead">For clients that enroll with a file: save it as <code>name.jwt</code>.</p>
<textarea rows="5" readonly aria-label="Enrollment JWT" spellcheck="false" data-copy="Copy the JWT">${jwt}</textarea>`,
  )
}
<p><a href="${identityPath(identityId)}">Back to <bdi>${name}</bdi></a></p>`,
  })
}
