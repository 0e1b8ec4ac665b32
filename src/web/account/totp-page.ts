/**
 * The user's own authenticator app: off, being set up, on, and new recovery codes. API 3.1; D-19, D-162. The page with
 * the secret is only ever the response to a POST, so that only the session that started the setup sees it.
 */
import { alert } from '../login/alert.ts'
import { codeField } from '../login/code-field.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { codeList, saving, scanning } from '../login/pages/enroll-page.ts'
import { ENROLL } from '../login/texts.ts'
import { confirmFirst } from './confirm.ts'
import { accountLayout, type Frame, form, PAGE_PATHS } from './layout.ts'
import { TOTP } from './texts.ts'

export const TOTP_START_PATH = `${PAGE_PATHS.totp}/start`
export const TOTP_VERIFY_PATH = `${PAGE_PATHS.totp}/verify`
export const TOTP_REMOVE_PATH = `${PAGE_PATHS.totp}/remove`
export const RECOVERY_CODES_PATH = `${PAGE_PATHS.totp}/recovery-codes`

export function totpOffPage(frame: Frame, { isFresh }: { isFresh: boolean }): SafeHtml {
  const button = html`<button type="submit">${TOTP.start}</button>`
  return accountLayout(frame, {
    page: 'totp',
    content: html`<p>${TOTP.off}</p>
${isFresh ? form(frame.formToken, TOTP_START_PATH, button) : undefined}
<p class="note">${TOTP.apps}</p>
${isFresh ? undefined : confirmFirst('totp')}`,
  })
}

export interface TotpSetUpPage {
  /** Proves at the end that this session started it. */
  readonly proof: string
  readonly provisioningUrl: string
  /** Shown once (D-17): missing when the page is shown again after a wrong code. */
  readonly recoveryCodes?: readonly string[]
  readonly error?: string
}

export function totpSetUpPage(frame: Frame, page: TotpSetUpPage): SafeHtml {
  const { proof, provisioningUrl, recoveryCodes, error } = page
  const { prove } = TOTP
  const fields = html`<input type="hidden" name="proof" value="${proof}">
${codeField({ label: prove.code, keyboard: 'numeric', isFirst: error !== undefined, error })}
<button type="submit">${prove.submit}</button>`
  return accountLayout(frame, {
    page: 'totp',
    title: TOTP.enroll,
    error,
    content: html`<ol class="steps">
<li class="unprinted">
<h2>${ENROLL.scan.title}</h2>
${scanning(provisioningUrl)}
</li>
${recoveryCodes === undefined ? undefined : saving(recoveryCodes, provisioningUrl)}<li class="unprinted">
<h2>${prove.title}</h2>
<p>${prove.message}</p>
${form(frame.formToken, TOTP_VERIFY_PATH, fields)}
<p class="note"><a href="${PAGE_PATHS.totp}">${TOTP.cancel}</a></p>
</li>
</ol>`,
  })
}

export interface TotpOnPage {
  readonly recoveryCodesLeft: number
  /** The policy requires an app. */
  readonly isDemanded: boolean
  /** Which of the two forms failed, and why. */
  readonly error?: { readonly form: 'renew' | 'remove'; readonly message: string }
}

export function totpOnPage(frame: Frame, page: TotpOnPage): SafeHtml {
  const { recoveryCodesLeft, isDemanded, error } = page
  const { recovery, remove } = TOTP
  return accountLayout(frame, {
    page: 'totp',
    error: error?.message,
    content: html`<p>${TOTP.on}</p>
<section>
<h2>${recovery.title}</h2>
<p>${recovery.left(recoveryCodesLeft)}</p>
${form(frame.formToken, RECOVERY_CODES_PATH, coded('renew', recovery.renew))}
</section>
<section>
<h2>${remove.title}</h2>
<p>${isDemanded ? remove.demanded : remove.hint}</p>
${form(frame.formToken, TOTP_REMOVE_PATH, coded('remove', remove.submit))}
</section>`,
  })

  /** The page has two fields for a code, so each needs its own id. */
  function coded(name: 'renew' | 'remove', submit: string): SafeHtml {
    const message = error?.form === name ? error.message : undefined
    const described =
      message === undefined
        ? undefined
        : html` aria-invalid="true" aria-describedby="error" autofocus`
    return html`${alert(message)}<label for="${name}-code">${TOTP.code}</label>
<input id="${name}-code" class="code" name="code" type="text" required autocomplete="one-time-code" maxlength="20" autocapitalize="characters" autocorrect="off" spellcheck="false"${described}>
<button class="quiet" type="submit">${submit}</button>`
  }
}

export interface RecoveryCodesPage {
  readonly codes: readonly string[]
  /** The service that they are for, as the app names it. */
  readonly issuer: string
}

export function recoveryCodesPage(frame: Frame, { codes, issuer }: RecoveryCodesPage): SafeHtml {
  const { recovery } = TOTP
  return accountLayout(frame, {
    page: 'totp',
    title: recovery.fresh,
    content: html`<p>${recovery.save}</p>
${codeList(codes, { issuer, name: frame.name })}
<p class="onward unprinted"><a class="choice only" href="${PAGE_PATHS.totp}">${recovery.done}</a></p>`,
  })
}
