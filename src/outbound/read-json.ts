/** The JSON document in the body of an answer. */
import { fromUtf8 } from '../base/encoding.ts'
import { parseJson } from '../base/json.ts'

/** As deep as any JSON that we read (D-44). */
const DEEPEST = 32

/** Rejects what is not JSON with an Error that shows nothing of it. */
export function readJson(body: Uint8Array): unknown {
  const text = fromUtf8(body)
  const document = text === undefined ? undefined : parseJson(text, DEEPEST)
  if (document === undefined) throw new Error('the answer is not JSON that can be read')
  return document.value
}
