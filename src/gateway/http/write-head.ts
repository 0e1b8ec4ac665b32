/** Begins a response to a client, of HTTP/1.1 or HTTP/2, with exactly these fields. */
import type { ServerResponse } from 'node:http'
import { isHttp2 } from '../../https-server/http2.ts'
import { type Field, flat } from './fields.ts'

/** Throws if a field is not valid, before anything is sent. */
export function writeHead(
  response: ServerResponse,
  status: number,
  fields: readonly Field[],
): void {
  if (!isHttp2(response)) {
    response.writeHead(status, flat(fields))
    return
  }
  // Node keeps one value for each call. Fields about the connection do not exist in HTTP/2 (RFC 9113 §8.2.2).
  const values = new Map<string, string[]>()
  for (const [name, value] of fields) {
    const lower = name.toLowerCase()
    if (OF_CONNECTION.has(lower)) continue
    const before = values.get(lower)
    if (before === undefined) values.set(lower, [value])
    else before.push(value)
  }
  for (const [name, all] of values)
    response.setHeader(name, all.length === 1 ? (all[0] ?? '') : all)
  response.writeHead(status)
}

const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])
