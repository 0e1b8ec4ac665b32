/**
 * Uses and creates passkeys: the one thing on the pages that needs a script (WebAuthn Level 3 §5.1). The options are in
 * the form, and the answer goes into it; nothing is fetched. One module, inline and allowed by its hash (D-50, D-446).
 */

import { html } from '../html.ts'
import { inlineSource } from './inline-source.ts'

const SCRIPT = html`
const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
const encode = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
const listed = (credentials = []) => credentials.map((one) => ({ ...one, id: decode(one.id) }))
const readOptions = ({ challenge, user, allowCredentials, excludeCredentials, ...rest }) => ({
  ...rest,
  challenge: decode(challenge),
  ...(user && { user: { ...user, id: decode(user.id) } }),
  ...(allowCredentials && { allowCredentials: listed(allowCredentials) }),
  ...(excludeCredentials && { excludeCredentials: listed(excludeCredentials) }),
})
const written = ({ id, type, response }) => {
  const part = (name) => response[name] && { [name]: encode(response[name]) }
  const answer = {
    ...part('clientDataJSON'),
    ...part('attestationObject'),
    ...part('authenticatorData'),
    ...part('signature'),
    ...part('userHandle'),
    transports: response.getTransports?.() ?? [],
  }
  // A new passkey also has its data inside the attestation.
  if (answer.attestationObject) delete answer.authenticatorData
  return JSON.stringify({ id, rawId: id, type, response: answer, clientExtensionResults: {} })
}
// One for the page: a browser asks for one passkey at a time.
let waiting = new AbortController()
const isSupported = window.PublicKeyCredential !== undefined
for (const form of document.querySelectorAll('form[data-passkey]')) {
  const { passkey, options, failed, unsupported } = form.dataset
  const said = form.querySelector('[role=alert]')
  const say = (text) => {
    said.textContent = text ?? ''
    said.hidden = text === undefined
  }
  const isAutofill = form.dataset.autofill !== undefined
  if (!isSupported && isAutofill) continue
  form.hidden = false
  if (!isSupported) {
    say(unsupported)
    form.querySelector('button').disabled = true
    continue
  }
  const ask = async (more) => {
    waiting.abort()
    waiting = new AbortController()
    const { signal } = waiting
    const given = { publicKey: readOptions(JSON.parse(options)), signal, ...more }
    const { credentials } = navigator
    const asking = passkey === 'create' ? credentials.create(given) : credentials.get(given)
    const credential = await asking.catch((error) => {
      if (!signal.aborted) throw error
    })
    // Pressed again: the newer prompt counts.
    if (signal.aborted) return
    form.elements.credential.value = written(credential)
    HTMLFormElement.prototype.submit.call(form)
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    say(undefined)
    try {
      await ask({})
    } catch (error) {
      say(error.name === 'InvalidStateError' ? (form.dataset.exists ?? failed) : failed)
    }
  })
  if (isAutofill && (await PublicKeyCredential.isConditionalMediationAvailable?.())) {
    ask({ mediation: 'conditional' }).catch(() => {})
  }
}
`

export const PASSKEYS = html`<script type="module">${SCRIPT}</script>`

/** For `script-src` of the content security policy. */
export const PASSKEYS_SOURCE = inlineSource(SCRIPT)
