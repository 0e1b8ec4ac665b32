/**
 * Makes an identity file in the browser (D-377): a P-256 key that never leaves it, a PKCS#10 request for it (RFC 2986),
 * and the file that `latchkey enroll` writes too. The file stays on the page, because the link works only once.
 */
import { html } from '../../login/html.ts'
import { inlineSource } from '../../login/look/inline-source.ts'

export const MAKE_IDENTITY_FILE = html`
const der = (tag, ...parts) => {
  const content = parts.flatMap((part) => [...part])
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [129, size] : [130, size >> 8, size & 255]
  return new Uint8Array([tag, ...length, ...content])
}
const SEQUENCE = 48
const COMMON_NAME = [6, 3, 85, 4, 3]
const ECDSA_WITH_SHA256 = [6, 8, 42, 134, 72, 206, 61, 4, 3, 2]

// A positive number without needless leading zeros (X.690 8.3).
const integer = (bytes) => {
  let first = 0
  while (first < bytes.length - 1 && bytes[first] === 0) first += 1
  const digits = [...bytes.slice(first)]
  return der(2, digits[0] > 127 ? [0, ...digits] : digits)
}

const pem = (type, bytes) => {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/.{64}(?=.)/g, '$&\\n')
  return '-----BEGIN ' + type + '-----\\n' + text + '\\n-----END ' + type + '-----\\n'
}

const makeRequest = async (commonName) => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign'])
  const name = der(12, new TextEncoder().encode(commonName))
  const subject = der(SEQUENCE, der(49, der(SEQUENCE, COMMON_NAME, name)))
  const publicKey = new Uint8Array(await crypto.subtle.exportKey('spki', pair.publicKey))
  const content = der(SEQUENCE, integer([0]), subject, publicKey, der(160))
  const signing = { name: 'ECDSA', hash: 'SHA-256' }
  const signed = new Uint8Array(await crypto.subtle.sign(signing, pair.privateKey, content))
  const signature = der(SEQUENCE, integer(signed.slice(0, 32)), integer(signed.slice(32)))
  const csr = der(SEQUENCE, content, der(SEQUENCE, ECDSA_WITH_SHA256), der(3, [0], signature))
  return {
    csr: pem('CERTIFICATE REQUEST', csr),
    key: pem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', pair.privateKey)),
  }
}

const start = () => {
  const form = document.querySelector('form[data-identity]')
  const show = (name) => {
    for (const part of document.querySelectorAll('[data-shown]')) {
      part.hidden = part.dataset.shown !== name
    }
    document.querySelector('[data-shown=' + name + '] [tabindex="-1"]')?.focus()
  }
  show('ready')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const button = form.querySelector('button')
    if (button.disabled) return
    button.disabled = true
    try {
      const { csr, key } = await makeRequest(form.dataset.identity)
      const response = await fetch(form.action, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ token: form.elements.token.value, clientCsr: csr }),
      })
      const answer = await response.json()
      if (!response.ok) throw new Error(answer.error?.code)
      const text = JSON.stringify({ ...answer.data, key }, undefined, 2) + '\\n'
      const link = document.querySelector('a[download]')
      link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
      show('done')
      link.click()
    } catch (error) {
      show(['ENROLLMENT_USED', 'ENROLLMENT_EXPIRED', 'INVALID_ENROLLMENT_TOKEN'].includes(error.message) ? 'gone' : 'failed')
      button.disabled = false
    }
  })
}
if (globalThis.document !== undefined) start()
`

export const MAKE_IDENTITY_FILE_SOURCE = inlineSource(MAKE_IDENTITY_FILE)
