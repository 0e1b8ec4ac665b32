/**
 * The form that a passkey answers: its options are in it, and the script puts the answer into it (D-446). It is hidden
 * until the script runs.
 */
import { html, type SafeHtml } from '../html.ts'
import type { Presentation } from '../presentation.ts'

export interface PasskeyForm {
  readonly action: string
  readonly kind: 'get' | 'create'
  /** For `navigator.credentials`, in the JSON form of WebAuthn Level 3. */
  readonly options: object
  /** Hidden fields. */
  readonly fields: Readonly<Record<string, string>>
  readonly button: string
  readonly look?: 'choice'
  /** Browsers also offer passkeys in the field for the username (conditional mediation). */
  readonly autofill?: true
  /** Before the button. */
  readonly content?: SafeHtml
}

export function passkeyForm({ say }: Presentation, form: PasskeyForm): SafeHtml {
  const { action, kind, options, fields, button, look, autofill, content } = form
  const hidden = Object.entries({ ...fields, credential: '' }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`,
  )
  const filling = autofill !== undefined && html` data-autofill`
  const exists = kind === 'create' && html` data-exists="${say('passkey.exists')}"`
  const dress = look !== undefined && html` class="${look}"`
  return html`<form class="passkey" method="post" action="${action}" data-passkey="${kind}" data-options="${JSON.stringify(options)}" data-failed="${say(`passkey.failed.${kind}`)}" data-unsupported="${say('passkey.unsupported')}"${exists}${filling} hidden>
${hidden}<p class="alert" role="alert" hidden></p>
${content}<button type="submit"${dress}>${button}</button>
</form>`
}

/** For browsers that run no scripts: nothing on the page would work. */
export function needsScripts({ say }: Presentation): SafeHtml {
  return html`<noscript><p class="alert">${say('passkey.noScripts')}</p></noscript>`
}
