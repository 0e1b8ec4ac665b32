/**
 * The pages on which a user approves the sign-in of a device: the code, the question, and the outcome. RFC 8628 §3.3.
 * They need no script.
 */
import type { Instant } from '../../base/time/instant.ts'
import { type FormToken, form, PAGE_PATHS } from '../account/layout.ts'
import { programOf } from '../account/program.ts'
import { when } from '../account/when.ts'
import { alert } from '../login/alert.ts'
import type { ErrorText } from '../login/error-text.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { layout } from '../login/layout.ts'
import type { Presentation } from '../login/presentation.ts'
import {
  APPROVE_DEVICE_PATH,
  CONFIRM_DEVICE_PATH,
  DENY_DEVICE_PATH,
  DEVICE_PATH,
  DEVICE_SIGN_IN_PATH,
  DEVICE_SIGN_OUT_PATH,
  USER_CODE_PARAMETER,
} from './paths.ts'

export type DeviceError = 'malformed' | 'unknown' | 'expired' | 'answered' | 'certificate'

/** Longer than the code with spaces and dashes. */
const LONGEST = 32

export interface EnterCodePage {
  /** What the field contains: from the address, or from the last attempt. */
  readonly value?: string | undefined
  readonly error?: DeviceError | undefined
}

/** A GET form, because it changes nothing: the code is in `verification_uri_complete` too (RFC 8628 §3.3.1). */
export function enterCodePage(presentation: Presentation, page: EnterCodePage): SafeHtml {
  const { say } = presentation
  const { value, error: kind } = page
  const error = kind === undefined ? undefined : say(`device.error.${kind}`)
  const described = error !== undefined && html` aria-invalid="true" aria-describedby="error"`
  return layout(presentation, {
    title: say('device.title'),
    error,
    address: DEVICE_PATH,
    content: html`<p>${say('device.message')}</p>
<form method="get" action="${CONFIRM_DEVICE_PATH}">
${alert(error)}<label for="user-code">${say('device.code')}</label>
<input id="user-code" class="code" name="${USER_CODE_PARAMETER}" type="text" required autocomplete="off" maxlength="${LONGEST}" autocapitalize="characters" autocorrect="off" spellcheck="false" value="${value ?? ''}"${described} autofocus>
<button type="submit">${say('device.continue')}</button>
</form>
<p class="note">${say('device.warning')}</p>`,
  })
}

export interface ConfirmDevicePage {
  /** As it is shown on the device. */
  readonly userCode: string
  /** Who is signed in. */
  readonly name: string
  readonly formToken: FormToken
  readonly address: string
  readonly userAgent: string | undefined
  readonly requestedAt: Instant
}

/** RFC 8628 §5.4: shows what is asked for, and warns of links that others have sent. */
export function confirmDevicePage(presentation: Presentation, page: ConfirmDevicePage): SafeHtml {
  const { say, fill } = presentation
  const { userCode, name, formToken, address, userAgent, requestedAt } = page
  const hidden = html`<input type="hidden" name="${USER_CODE_PARAMETER}" value="${userCode}">`
  const here = `${CONFIRM_DEVICE_PATH}?${USER_CODE_PARAMETER}=${userCode}`
  const other = `${DEVICE_SIGN_IN_PATH}?page=${encodeURIComponent(here)}`
  return layout(presentation, {
    title: say('device.confirm.title'),
    address: here,
    content: html`<p class="signing-in">${fill('device.confirm.as', { name: html`<strong><bdi>${name}</bdi></strong>` })} <a href="${other}">${say('signingIn.other')}</a></p>
<p>${say('device.confirm.compare')}</p>
<p class="user-code"><strong>${userCode}</strong></p>
<dl class="facts">
<dt>${say('device.confirm.program')}</dt><dd><bdi>${programOf(presentation, userAgent)}</bdi></dd>
<dt>${say('device.confirm.address')}</dt><dd>${address}</dd>
<dt>${say('device.confirm.time')}</dt><dd>${when(presentation, requestedAt)}</dd>
</dl>
<p class="alert">${say('device.confirm.warning')}</p>
<div class="answers">
${form(formToken, APPROVE_DEVICE_PATH, html`${hidden}\n<button type="submit">${say('device.confirm.approve')}</button>`)}
${form(formToken, DENY_DEVICE_PATH, html`${hidden}\n<button class="quiet" type="submit">${say('device.confirm.deny')}</button>`)}
</div>`,
  })
}

export const DEVICE_NOTES = ['approved', 'denied'] as const
export type DeviceNote = (typeof DEVICE_NOTES)[number]

/** The end: the browser is not needed any more. */
export function answeredPage(presentation: Presentation, note: DeviceNote): SafeHtml {
  const { say } = presentation
  return layout(presentation, {
    title: say(`device.${note}.title`),
    // The notice is shown once.
    address: 'none',
    content: html`<p role="status">${say(`device.${note}.message`)}</p>${note === 'approved' && html`\n<p><a href="${PAGE_PATHS.sessions}">${say('device.approved.sessions')}</a></p>`}`,
  })
}

export function deviceSignedOutPage(presentation: Presentation): SafeHtml {
  const { say } = presentation
  return layout(presentation, {
    title: say('signedOut.title'),
    content: html`<p>${say('signedOut.message')}</p>
<p><a href="${DEVICE_PATH}">${say('device.again')}</a></p>`,
  })
}

/** D-52: the policy requires a JWT with every call, which neither a page nor a device sends. */
export function deviceBlockedPage(presentation: Presentation, formToken: FormToken): SafeHtml {
  const { say } = presentation
  const button = html`<button type="submit">${say('account.signOut')}</button>`
  return layout(presentation, {
    title: say('device.blocked.title'),
    content: html`<p>${say('device.blocked.message')}</p>
${form(formToken, DEVICE_SIGN_OUT_PATH, button)}`,
  })
}

export function deviceFailurePage(
  presentation: Presentation,
  failure: ErrorText & { readonly requestId: string },
): SafeHtml {
  const { say } = presentation
  const { title, message, requestId } = failure
  return layout(presentation, {
    title,
    address: 'none',
    content: html`<p>${message}</p>
<p><a href="${DEVICE_PATH}">${say('device.again')}</a></p>
<p class="reference">${say('requestId.label')}: <code>${requestId}</code></p>`,
  })
}
