/** Reads the raw header fields of a request. */
import type { IncomingMessage } from 'node:http'

/** The part of a request that is needed to read its header fields. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'rawHeaders'>

/** Returns every value of a header field. Node keeps only the first one of some in `headers`. `name` in lower case. */
export function rawValues(
  { rawHeaders }: Pick<RequestHead, 'rawHeaders'>,
  name: string,
): readonly string[] {
  const values: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i]
    // Each request asks for some ten fields, and most names differ in length already.
    if (field?.length === name.length && field.toLowerCase() === name) {
      values.push(rawHeaders[i + 1] ?? '')
    }
  }
  return values
}
