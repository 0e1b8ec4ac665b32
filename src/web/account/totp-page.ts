/**
 * The user's own authenticator app: off, being set up, on, and new recovery codes. API 3.1; D-19, D-162. The page with
 * the secret is only ever the response to a POST, so that only the session that started the setup sees it.
 */
import { alert } from '../login/alert.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { HELPERS } from '../login/look/helpers-script.ts'
import { codeList, type EnrollPage, setUpSteps } from '../login/pages/enroll-page.ts'
import { confirmFirst } from './confirm.ts'
import { accountLayout, type Frame, form, PAGE_PATHS } from './layout.ts'

export const TOTP_START_PATH = `${PAGE_PATHS.totp}/start`
export const TOTP_VERIFY_PATH = `${PAGE_PATHS.totp}/verify`
export const TOTP_REMOVE_PATH = `${PAGE_PATHS.totp}/remove`
export const RECOVERY_CODES_PATH = `${PAGE_PATHS.totp}/recovery-codes`

export function totpOffPage(frame: Frame, { isFresh }: { isFresh: boolean }): SafeHtml {
  const { say } = frame.presentation
  const button = html`<button type="submit">${say('totp.start')}</button>`
  return accountLayout(frame, {
    page: 'totp',
    content: html`<p>${say('totp.off')}</p>
${isFresh && form(frame.formToken, TOTP_START_PATH, button)}
<p class="note">${say('enroll.apps')}</p>
${!isFresh && confirmFirst(frame.presentation, 'totp')}`,
  })
}

export interface TotpSetUpPage extends Omit<EnrollPage, 'authRequestId'> {
  /** Proves at the end that this session started it. */
  readonly proof: string
}

export function totpSetUpPage(frame: Frame, page: TotpSetUpPage): SafeHtml {
  const { proof, error } = page
  const { presentation, formToken } = frame
  const { say } = presentation
  return accountLayout(frame, {
    page: 'totp',
    title: say('enroll.title'),
    shownOnce: true,
    error,
    content: setUpSteps(presentation, page, (fields) => {
      const proven = html`<input type="hidden" name="proof" value="${proof}">\n${fields}`
      return html`${form(formToken, TOTP_VERIFY_PATH, proven)}
<p class="note"><a href="${PAGE_PATHS.totp}">${say('totp.cancel')}</a></p>`
    }),
  })
}

export interface TotpOnPage {
  readonly recoveryCodesLeft: number
  /** The policy requires an app. */
  readonly isDemanded: boolean
  /** Which of the two forms failed, and why. */
  readonly error?: { readonly form: 'renew' | 'remove'; readonly message: string } | undefined
}

export function totpOnPage(frame: Frame, page: TotpOnPage): SafeHtml {
  const { recoveryCodesLeft, isDemanded, error } = page
  const { say } = frame.presentation
  return accountLayout(frame, {
    page: 'totp',
    error: error?.message,
    content: html`<p>${say('totp.on')}</p>
<section>
<h2>${say('totp.recovery.title')}</h2>
<p>${recoveryCodesLeft === 0 ? say('totp.recovery.none') : say('totp.recovery.left', { count: recoveryCodesLeft })}</p>
${form(frame.formToken, RECOVERY_CODES_PATH, coded('renew', say('totp.recovery.renew')))}
</section>
<section>
<h2>${say('totp.remove.title')}</h2>
<p>${isDemanded ? say('totp.remove.demanded') : say('totp.remove.hint')}</p>
${form(frame.formToken, TOTP_REMOVE_PATH, coded('remove', say('totp.remove.submit')))}
</section>`,
  })

  /** The page has two fields for a code, so each needs its own id. */
  function coded(name: 'renew' | 'remove', submit: string): SafeHtml {
    const message = error?.form === name ? error.message : undefined
    const described =
      message !== undefined && html` aria-invalid="true" aria-describedby="error" autofocus`
    return html`${alert(message)}<label for="${name}-code">${say('totp.code')}</label>
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
  const { presentation } = frame
  const { say } = presentation
  return accountLayout(frame, {
    page: 'totp',
    title: say('totp.recovery.fresh'),
    shownOnce: true,
    content: html`<p>${say('totp.recovery.save')}</p>
${codeList(presentation, codes, { issuer, name: frame.name })}
<p class="onward unprinted"><a class="choice only" href="${PAGE_PATHS.totp}">${say('totp.recovery.done')}</a></p>
${HELPERS}`,
  })
}
