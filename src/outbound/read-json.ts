/** Parses the JSON document in the body of a response. */
import { fromUtf8 } from '../base/encoding.ts'
import { parseJson } from '../base/json.ts'

/** The same depth as for all other JSON (D-44). */
const DEEPEST = 32

/** Rejects anything but JSON with an Error that quotes nothing of it. */
export function readJson(body: Uint8Array): unknown {
  const text = fromUtf8(body)
  const document = text === undefined ? undefined : parseJson(text, DEEPEST)
  if (document === undefined) throw new Error('the answer is not JSON that can be read')
  return document.value
}
