/**
 * Takes the token from the fragment of the address and sends it in a form, so that it is in no address that the server
 * sees (D-376). It also leaves the address bar and the history, where the next user of the browser would find it.
 */
import { html } from '../../login/html.ts'
import { inlineSource } from '../../login/look/inline-source.ts'

export const OPEN_LINK = html`
const token = location.hash.slice(1)
if (token !== '') {
  history.replaceState(null, '', location.pathname)
  const form = document.forms[0]
  form.elements.token.value = token
  form.submit()
}
`

export const OPEN_LINK_SOURCE = inlineSource(OPEN_LINK)
