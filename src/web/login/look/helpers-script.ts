/**
 * What scripts add to the pages: a button that shows a password, buttons that copy and download recovery codes, and
 * forms that a double click sends only once (D-427). Everything works without it. One module, inline and allowed by its
 * hash (D-50); its words come from the elements.
 */

import { html } from '../html.ts'
import { inlineSource } from './inline-source.ts'

const SCRIPT = html`
const button = (text, look) => {
  const made = document.createElement('button')
  made.type = 'button'
  made.className = look
  made.textContent = text
  return made
}
let sentAt = -Infinity
document.addEventListener('submit', (event) => {
  if (event.defaultPrevented) return
  if (event.timeStamp - sentAt < 5000) event.preventDefault()
  else sentAt = event.timeStamp
})
// The user went back, and the browser shows the page as it was.
addEventListener('pageshow', () => {
  sentAt = -Infinity
})
for (const field of document.querySelectorAll('input[data-show]')) {
  const { show, hide } = field.dataset
  const toggle = button(show, 'reveal')
  toggle.setAttribute('aria-controls', field.id)
  const reveal = (isShown) => {
    field.type = isShown ? 'text' : 'password'
    toggle.textContent = isShown ? hide : show
  }
  toggle.addEventListener('click', () => reveal(field.type === 'password'))
  field.form.addEventListener('submit', () => reveal(false))
  field.after(toggle)
}
for (const list of document.querySelectorAll('[data-copy]')) {
  const { copy, copied, download, file } = list.dataset
  const text = [...list.querySelectorAll('code')].map((code) => code.textContent + '\\n').join('')
  const tools = document.createElement('p')
  tools.className = 'tools unprinted'
  const copying = button(copy, 'quiet')
  copying.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text)
    said.textContent = copied
  })
  const saving = button(download, 'quiet')
  saving.addEventListener('click', () => {
    const link = document.createElement('a')
    // A file is found again years later, perhaps beside that of another account.
    const whose = list.previousElementSibling.textContent + '\\n\\n'
    link.href = URL.createObjectURL(new Blob([whose, text], { type: 'text/plain' }))
    link.download = file
    link.click()
    URL.revokeObjectURL(link.href)
  })
  const said = document.createElement('span')
  said.setAttribute('role', 'status')
  tools.append(copying, saving, said)
  list.after(tools)
}
`

export const HELPERS = html`<script type="module">${SCRIPT}</script>`

/** For `script-src` of the content security policy. */
export const HELPERS_SOURCE = inlineSource(SCRIPT)
