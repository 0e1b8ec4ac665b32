/**
 * `application/x-www-form-urlencoded`, of a query or a body. Strict where the platform's reader is lenient:
 * broken escapes and text that is not UTF-8 are refused instead of replaced, so that what is echoed is what
 * was sent (R015).
 */
import { attempt } from './node/attempt.ts'

/** Every name with all its values, in order. Empty values count as not sent (RFC 6749 §3.1). */
export type FormFields = ReadonlyMap<string, readonly string[]>

/** Returns how many fields a form has, including empty ones. Reads each character once, and decodes nothing. */
export function countFields(text: string): number {
  let count = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) count += 1
  return count
}

/** Returns the fields of a form, or undefined if the text is not one. */
export function parseForm(text: string): FormFields | undefined {
  const fields = new Map<string, string[]>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    if (name === undefined || value === undefined) return undefined
    if (value === '') continue
    const values = fields.get(name)
    if (values === undefined) fields.set(name, [value])
    else values.push(value)
  }
  return fields
}

function decode(text: string): string | undefined {
  // Most names and many values need no decoding.
  if (!/[%+]/.test(text)) return text
  return attempt(() => decodeURIComponent(plusToSpace(text)))
}

/** Works in place, because `replaceAll` takes eight times as long for a value of only plus signs (D-211). */
function plusToSpace(text: string): string {
  if (!text.includes('+')) return text
  // UTF-16 keeps half a surrogate pair as it is.
  const bytes = Buffer.from(text, 'utf16le')
  for (let at = 0; at < bytes.length; at += 2) {
    if (bytes[at] === PLUS && bytes[at + 1] === 0) bytes[at] = SPACE
  }
  return bytes.toString('utf16le')
}

const PLUS = 0x2b
const SPACE = 0x20
