/** Begins a response to a client, of HTTP/1.1 or HTTP/2, with exactly these fields. */
import type { ServerResponse } from 'node:http'
import { isHttp2 } from '../../https-server/http2.ts'
import type { Field } from './fields.ts'

/** Throws if a field or the status is not valid, before anything is sent. */
export function writeHead(
  response: ServerResponse,
  status: number,
  fields: readonly Field[],
): void {
  if (status < FIRST_FINAL) throw new RangeError(`${status} is not a final status`)
  if (!isHttp2(response)) {
    response.writeHead(status, fields.flat())
    return
  }
  // Node would find out after the fields, which would stay in the response that is sent instead.
  if (status > LAST_OF_HTTP2) throw new RangeError(`HTTP/2 has no status ${status}`)
  // Node keeps one value for each call. Fields about the connection do not exist in HTTP/2 (RFC 9113 §8.2.2).
  const kept = fields.filter(([name]) => !OF_CONNECTION.has(name.toLowerCase()))
  for (const [name, same] of Map.groupBy(kept, ([name]) => name.toLowerCase())) {
    const [value = '', ...others] = same.map(([, value]) => value)
    response.setHeader(name, others.length === 0 ? value : [value, ...others])
  }
  response.writeHead(status)
}

/** RFC 9110 §15.2: what comes before is not a response. After 101, a proxy in front of us would no longer read ours. */
export const FIRST_FINAL = 200
const LAST_OF_HTTP2 = 599

const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])
