/** The answer to an invitation: what to hand over. Only ever the response to the POST, because it is shown once. */
import type { Instant } from '../../../base/time/instant.ts'
import { html, type SafeHtml } from '../../login/html.ts'
import { qrCodeSvg } from '../../login/qr-code.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { IDENTITIES_PATH, identityPath } from '../navigation.ts'
import { section, time } from '../parts.ts'

export interface InvitationPage {
  readonly identityId: string
  readonly name: string
  /** Undefined if this service has no page for it. */
  readonly link: string | undefined
  readonly token: string
  /** For clients that enroll with a file. */
  readonly jwt: string | undefined
  readonly expiresAt: Instant
}

export function invitationPage(frame: ConsoleFrame, page: InvitationPage): SafeHtml {
  const { identityId, name, link, token, jwt, expiresAt } = page
  return consoleLayout(frame, {
    section: IDENTITIES_PATH,
    title: `Invitation for ${name}`,
    content: html`<p class="confirm">This is shown once. Send it so that only ${name} can read it: anyone who has it can sign in as ${name}. Valid once, until ${time(expiresAt)}.</p>
${
  link === undefined
    ? undefined
    : section(
        'Link',
        html`<p class="lead">For a person with a browser. On a phone, scan the QR code.</p>
<textarea rows="2" readonly aria-label="Link" spellcheck="false">${link}</textarea>
<div class="scan">${qrCodeSvg(link, 'QR code of the link')}</div>`,
      )
}${section(
  'Code',
  html`<p class="lead">For <code>latchkey enroll</code>, or to be typed at the page of the link.</p>
<textarea rows="2" readonly aria-label="Code" spellcheck="false">${token}</textarea>`,
)}${
  jwt === undefined
    ? undefined
    : section(
        'Enrollment JWT',
        html`<p class="lead">For clients that enroll with a file: save it as <code>name.jwt</code>.</p>
<textarea rows="5" readonly aria-label="Enrollment JWT" spellcheck="false">${jwt}</textarea>`,
      )
}
<p><a href="${identityPath(identityId)}">Back to ${name}</a></p>`,
  })
}
