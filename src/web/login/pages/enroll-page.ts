/**
 * Setting up an authenticator app in a browser: the page that says why, and the one with the QR code. SPEC TOTP
 * enrollment during an OIDC flow; D-19. A form cannot send DELETE, so there is no cancel button: starting again
 * replaces the pending enrollment.
 */
import { alert } from '../alert.ts'
import { codeField } from '../code-field.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { qrCodeSvg } from '../qr-code.ts'
import { ENROLL, ENROLL_START } from '../texts.ts'

export interface EnrollStartPage {
  readonly authRequestId: string
  /** Why the last attempt to set it up failed. */
  readonly error?: string
}

/** A code is required and there is no app yet. Starting changes data, so it is a button and not a link. */
export function enrollStartPage({ authRequestId, error }: EnrollStartPage): SafeHtml {
  return layout({
    title: ENROLL_START.title,
    error,
    content: html`<p>${ENROLL_START.message}</p>
${alert(error, 'focused')}<form method="post" action="/oidc/login/totp/enroll">
<input type="hidden" name="authRequestId" value="${authRequestId}">
<button type="submit">${ENROLL_START.submit}</button>
</form>
<p class="note">${ENROLL_START.apps}</p>`,
  })
}

export interface EnrollPage {
  readonly authRequestId: string
  /** Contains the secret; the QR code and the key for typing are derived from it. */
  readonly provisioningUrl: string
  /** Shown once (D-17): missing when the page is shown again after a wrong code. */
  readonly recoveryCodes?: readonly string[]
  /** Why the last code failed. */
  readonly error?: string
}

export function enrollPage(page: EnrollPage): SafeHtml {
  const { authRequestId, provisioningUrl, recoveryCodes, error } = page
  return layout({
    title: ENROLL.title,
    error,
    content: html`<ol class="steps">
<li class="unprinted">
<h2>${ENROLL.scan.title}</h2>
${scanning(provisioningUrl)}
</li>
${recoveryCodes === undefined ? undefined : saving(recoveryCodes, provisioningUrl)}<li class="unprinted">
<h2>${ENROLL.prove.title}</h2>
<p>${ENROLL.prove.message}</p>
<form method="post" action="/oidc/login/totp/enroll/verify">
<input type="hidden" name="authRequestId" value="${authRequestId}">
${codeField({ label: ENROLL.prove.code, keyboard: 'numeric', isFirst: error !== undefined, error })}
<button type="submit">${ENROLL.prove.submit}</button>
</form>${recoveryCodes === undefined ? startingOver(authRequestId) : undefined}
</li>
</ol>`,
  })
}

export function scanning(provisioningUrl: string): SafeHtml {
  const picture = qrCodeSvg(provisioningUrl, ENROLL.scan.picture)
  const key = new URL(provisioningUrl).searchParams.get('secret') ?? ''
  // Groups are separated by style, not by spaces, so that the copied text has none.
  const groups = (key.match(/.{1,4}/g) ?? []).map((group) => html`<span>${group}</span>`)
  return html`<p>${picture === undefined ? ENROLL.scan.tooLong : ENROLL.scan.message}</p>
${picture}
<p><a href="${provisioningUrl}">${ENROLL.scan.open}</a></p>
<details>
<summary>${ENROLL.scan.type}</summary>
<p>${ENROLL.scan.key}</p>
<code class="key">${groups}</code>
</details>`
}

/** A user who did not save the recovery codes can get new ones: these cannot be shown again. */
function startingOver(authRequestId: string): SafeHtml {
  const url = `/oidc/login/totp/enroll?authRequestID=${encodeURIComponent(authRequestId)}`
  return html`\n<p class="note">${ENROLL.unsaved} <a href="${url}">${ENROLL.again}</a>.</p>`
}

export function saving(recoveryCodes: readonly string[], provisioningUrl: string): SafeHtml {
  return html`<li>
<h2>${ENROLL.save.title}</h2>
<p>${ENROLL.save.message}</p>
${codeList(recoveryCodes, accountOf(provisioningUrl))}
</li>
`
}

/** The codes, and in print the account that they belong to. */
export function codeList(
  codes: readonly string[],
  { issuer, name }: { readonly issuer: string; readonly name: string },
): SafeHtml {
  return html`<p class="printed">${ENROLL.save.of} <bdi>${name}</bdi>, ${issuer}</p>
<ul class="codes">
${codes.map((code) => html`<li><code>${code}</code></li>\n`)}</ul>`
}

/** The label of the URL is the issuer, a colon and the name, both percent-encoded (D-19). */
function accountOf(provisioningUrl: string): { readonly issuer: string; readonly name: string } {
  const [issuer = '', name = ''] = new URL(provisioningUrl).pathname.slice(1).split(':')
  return { issuer: decodeURIComponent(issuer), name: decodeURIComponent(name) }
}
