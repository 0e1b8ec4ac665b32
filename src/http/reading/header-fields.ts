/** Reads the raw header fields of a request. */
import type { IncomingMessage } from 'node:http'

/** The part of a request that is needed to read its header fields. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'rawHeaders'>

/** Returns every value of a header field. Node keeps only the first one of some in `headers`. `name` in lower case. */
export function rawValues(
  { rawHeaders }: Pick<RequestHead, 'rawHeaders'>,
  name: string,
): readonly string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
}
