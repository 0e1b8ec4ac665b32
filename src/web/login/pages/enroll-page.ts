/**
 * Setting up an authenticator app in a browser: the page that says why, and the one with the QR code. SPEC TOTP
 * enrollment during an OIDC flow; D-19. A form cannot send DELETE, so there is no cancel button: starting again
 * replaces the pending enrollment.
 */
import { alert } from '../alert.ts'
import { codeField } from '../code-field.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { loginAddress } from '../login-address.ts'
import { HELPERS } from '../look/helpers-script.ts'
import type { Presentation } from '../presentation.ts'
import { qrCodeSvg } from '../qr-code.ts'

export interface EnrollStartPage {
  readonly authRequestId: string
  /** Whether a passkey would do instead. */
  readonly canUsePasskey?: boolean
  /** Why the last attempt to set it up failed. */
  readonly error?: string
}

/** A code is required and there is no app yet. Starting changes data, so it is a button and not a link. */
export function enrollStartPage(presentation: Presentation, page: EnrollStartPage): SafeHtml {
  const { say } = presentation
  const { authRequestId, canUsePasskey = false, error } = page
  return layout(presentation, {
    title: say('enrollStart.title'),
    error,
    address: loginAddress('totp/enroll', authRequestId),
    content: html`<p>${say('enrollStart.message')}</p>
${alert(error, 'focused')}<form method="post" action="${loginAddress('totp/enroll', authRequestId)}">
<input type="hidden" name="authRequestId" value="${authRequestId}">
<button type="submit">${say('enrollStart.submit')}</button>
</form>
<p class="note">${say('enroll.apps')}</p>${canUsePasskey && html`\n<p class="instead"><a href="${loginAddress('passkey/enroll', authRequestId)}">${say('code.passkeyInstead')}</a></p>`}`,
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

export function enrollPage(presentation: Presentation, page: EnrollPage): SafeHtml {
  const { say } = presentation
  const { authRequestId, recoveryCodes, error } = page
  return layout(presentation, {
    title: say('enroll.title'),
    error,
    // Another address would lose the recovery codes, which are shown once.
    address: 'none',
    content: setUpSteps(
      presentation,
      page,
      (fields) => html`<form method="post" action="/oidc/login/totp/enroll/verify">
<input type="hidden" name="authRequestId" value="${authRequestId}">
${fields}
</form>${recoveryCodes === undefined && startingOver(presentation, authRequestId)}`,
    ),
  })
}

/** Also on the account pages. `prove` writes the form around its fields. */
export function setUpSteps(
  presentation: Presentation,
  { provisioningUrl, recoveryCodes, error }: Omit<EnrollPage, 'authRequestId'>,
  prove: (fields: SafeHtml) => SafeHtml,
): SafeHtml {
  const { say } = presentation
  const fields = html`${codeField({ label: say('enroll.prove.code'), keyboard: 'numeric', isFirst: error !== undefined, error })}
${recoveryCodes !== undefined && savedCheck(presentation)}<button type="submit">${say('enroll.prove.submit')}</button>`
  return html`<ol class="steps">
<li class="unprinted">
<h2>${say('enroll.scan.title')}</h2>
${scanning(presentation, provisioningUrl)}
</li>
${recoveryCodes !== undefined && saving(presentation, recoveryCodes, provisioningUrl)}<li class="unprinted">
<h2>${say('enroll.prove.title')}</h2>
<p>${say('enroll.prove.message')}</p>
${prove(fields)}
</li>
</ol>
${HELPERS}`
}

/** Required, so that a browser asks for it; programs that post the form need not send it. */
export function savedCheck({ say }: Presentation): SafeHtml {
  return html`<label class="check"><input type="checkbox" name="saved" value="yes" required> <span>${say('enroll.saved')}</span></label>\n`
}

function scanning({ say }: Presentation, provisioningUrl: string): SafeHtml {
  const picture = qrCodeSvg(provisioningUrl, say('enroll.scan.picture'))
  const key = new URL(provisioningUrl).searchParams.get('secret') ?? ''
  // Groups are separated by style, not by spaces, so that the copied text has none.
  const groups = (key.match(/.{1,4}/g) ?? []).map((group) => html`<span>${group}</span>`)
  return html`<p>${picture === undefined ? say('enroll.scan.tooLong') : say('enroll.scan.message')}</p>
${picture}
<p><a href="${provisioningUrl}">${say('enroll.scan.open')}</a></p>
<details>
<summary>${say('enroll.scan.type')}</summary>
<p>${say('enroll.scan.key')}</p>
<code class="key">${groups}</code>
</details>`
}

/** A user who did not save the recovery codes can get new ones: these cannot be shown again. */
function startingOver({ say, fill }: Presentation, authRequestId: string): SafeHtml {
  const url = loginAddress('totp/enroll', authRequestId)
  const startOver = html`<a href="${url}">${say('enroll.startOver')}</a>`
  return html`\n<p class="note">${fill('enroll.unsaved', { startOver })}</p>`
}

function saving(
  presentation: Presentation,
  recoveryCodes: readonly string[],
  provisioningUrl: string,
): SafeHtml {
  const { say } = presentation
  return html`<li>
<h2>${say('enroll.save.title')}</h2>
<p>${say('enroll.save.message')}</p>
${codeList(presentation, recoveryCodes, accountOf(provisioningUrl))}
</li>
`
}

/** The codes, and in print and in the file to download, the account that they belong to. */
export function codeList(
  { say, fill }: Presentation,
  codes: readonly string[],
  { issuer, name }: { readonly issuer: string; readonly name: string },
): SafeHtml {
  return html`<p class="printed">${fill('enroll.save.of', { name: html`<bdi>${name}</bdi>`, issuer })}</p>
<ul class="codes" data-copy="${say('codes.copy')}" data-copied="${say('codes.copied')}" data-download="${say('codes.download')}" data-file="${say('codes.file')}.txt">
${codes.map((code) => html`<li><code>${code}</code></li>\n`)}</ul>`
}

/** The label of the URL is the issuer, a colon and the name, both percent-encoded (D-19). */
function accountOf(provisioningUrl: string): { readonly issuer: string; readonly name: string } {
  const [issuer = '', name = ''] = new URL(provisioningUrl).pathname.slice(1).split(':')
  return { issuer: decodeURIComponent(issuer), name: decodeURIComponent(name) }
}
