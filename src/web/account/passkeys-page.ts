/** GET /account/passkeys: the user's passkeys, and the page that adds one. D-430, D-437, D-446. */
import type { Instant } from '../../base/time/instant.ts'
import { alert } from '../login/alert.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { HELPERS } from '../login/look/helpers-script.ts'
import { needsScripts, passkeyForm } from '../login/look/passkey-form.ts'
import { PASSKEYS } from '../login/look/passkey-script.ts'
import { savedCheck } from '../login/pages/enroll-page.ts'
import { savedCodes } from '../login/pages/passkey-page.ts'
import { confirmFirst } from './confirm.ts'
import { accountLayout, type Frame, form, PAGE_PATHS } from './layout.ts'
import { when } from './when.ts'

export const PASSKEY_START_PATH = `${PAGE_PATHS.passkeys}/start`
export const PASSKEY_VERIFY_PATH = `${PAGE_PATHS.passkeys}/verify`
export const PASSKEY_RENAME_PATH = `${PAGE_PATHS.passkeys}/rename`
export const PASSKEY_REMOVE_PATH = `${PAGE_PATHS.passkeys}/remove`

const LONGEST_NAME = 64

export interface ShownPasskey {
  readonly id: string
  readonly name: string
  /** The host that it works at, if it is another one. */
  readonly elsewhere: string | undefined
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | undefined
}

export interface PasskeysPage {
  readonly passkeys: readonly ShownPasskey[]
  /** The login is recent enough to add one. */
  readonly isFresh: boolean
  /** Passkeys do not work at this address, for example an IP address. */
  readonly isAvailable: boolean
  /** The options to confirm a removal with a passkey; undefined if none works here. */
  readonly proof: object | undefined
  readonly error?: string | undefined
}

export function passkeysPage(frame: Frame, page: PasskeysPage): SafeHtml {
  const { presentation } = frame
  const { say } = presentation
  const { passkeys, error } = page
  return accountLayout(frame, {
    page: 'passkeys',
    error,
    content: html`<p>${say('passkeys.message')}</p>
${alert(error, 'focused')}${adding(frame, page)}
${passkeys.length === 0 ? html`<p class="note">${say('passkeys.none')}</p>` : html`<ul class="entries">\n${passkeys.map((one) => entry(frame, one, page))}</ul>`}
${PASSKEYS}`,
  })
}

function adding({ formToken, presentation }: Frame, page: PasskeysPage): SafeHtml {
  const { say } = presentation
  if (!page.isAvailable) return html`<p class="note">${say('passkeys.unavailable')}</p>`
  if (!page.isFresh) return confirmFirst(presentation, 'passkeys')
  const button = html`<button type="submit">${say('passkeys.add')}</button>`
  return form(formToken, PASSKEY_START_PATH, button)
}

function entry(frame: Frame, passkey: ShownPasskey, { proof }: PasskeysPage): SafeHtml {
  const { formToken, presentation } = frame
  const { say } = presentation
  const { id, name, elsewhere, createdAt, lastUsedAt } = passkey
  const field = `name-${id}`
  const renaming = html`<input type="hidden" name="passkey" value="${id}">
<label for="${field}">${say('passkeys.name')}</label>
<input id="${field}" name="name" type="text" required maxlength="${LONGEST_NAME}" autocomplete="off" value="${name}">
<button class="quiet" type="submit">${say('passkeys.rename')}</button>`
  const code = `code-${id}`
  const removing = html`<input type="hidden" name="passkey" value="${id}">
<label for="${code}">${say('passkeys.code')}</label>
<input id="${code}" class="code" name="code" type="text" required autocomplete="one-time-code" maxlength="20" autocapitalize="characters" autocorrect="off" spellcheck="false">
<button class="quiet" type="submit">${say('passkeys.removeWithCode')}</button>`
  return html`<li>
<h2><bdi>${name}</bdi></h2>
<dl class="facts">
<dt>${say('passkeys.created')}</dt><dd>${when(presentation, createdAt)}</dd>
<dt>${say('passkeys.used')}</dt><dd>${lastUsedAt === undefined ? say('passkeys.never') : when(presentation, lastUsedAt)}</dd>
${elsewhere !== undefined && html`<dt>${say('passkeys.host')}</dt><dd>${elsewhere}</dd>\n`}</dl>
<details>
<summary aria-label="${say('passkeys.renameLabel', { name })}">${say('passkeys.rename')}</summary>
${form(formToken, PASSKEY_RENAME_PATH, renaming)}
</details>
<details>
<summary aria-label="${say('passkeys.removeLabel', { name })}">${say('passkeys.remove')}</summary>
<p>${say('passkeys.removeMessage')}</p>
${
  proof !== undefined &&
  passkeyForm(presentation, {
    action: PASSKEY_REMOVE_PATH,
    kind: 'get',
    options: proof,
    fields: { formToken: formToken(PASSKEY_REMOVE_PATH), passkey: id },
    button: say('passkeys.removeWithPasskey'),
  })
}
${form(formToken, PASSKEY_REMOVE_PATH, removing)}
</details>
</li>
`
}

export interface AddPasskeyPage {
  readonly options: object
  /** With the first factor only. */
  readonly recoveryCodes: readonly string[]
  readonly issuer: string
}

export function addPasskeyPage(frame: Frame, page: AddPasskeyPage): SafeHtml {
  const { presentation, name, formToken } = frame
  const { say } = presentation
  const { options, recoveryCodes, issuer } = page
  return accountLayout(frame, {
    page: 'passkeys',
    title: say('newPasskey.title'),
    shownOnce: true,
    content: html`<p>${say('passkeys.addMessage')}</p>
${savedCodes(presentation, recoveryCodes, { issuer, name })}${needsScripts(presentation)}
${passkeyForm(presentation, {
  action: PASSKEY_VERIFY_PATH,
  kind: 'create',
  options,
  fields: { formToken: formToken(PASSKEY_VERIFY_PATH) },
  button: say('newPasskey.create'),
  content: html`<label for="passkey-name">${say('passkeys.name')}</label>
<input id="passkey-name" name="name" type="text" maxlength="${LONGEST_NAME}" autocomplete="off" value="${say('passkeys.defaultName')}">
${recoveryCodes.length > 0 && savedCheck(presentation)}`,
})}
<p class="note"><a href="${PAGE_PATHS.passkeys}">${say('totp.cancel')}</a></p>
${HELPERS}
${PASSKEYS}`,
  })
}
