/** The header fields of a request, as they came. */
import type { IncomingMessage } from 'node:http'

/** As much of a request as reading its header fields takes. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'rawHeaders'>

/** Returns every value of a header field. Node keeps only the first one of some in `headers`. `name` in lower case. */
export function rawValues(
  { rawHeaders }: Pick<RequestHead, 'rawHeaders'>,
  name: string,
): readonly string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
}
