/** The response to plain HTTP at the port of a listener: one sentence, and a redirect to its https address. D-339. */
import type { RawAnswer } from '../../https-server/https-server.ts'
import type { PlainRequest } from '../../https-server/plain-http.ts'
import type { ListenerAddresses } from '../issuers.ts'

/** Visible ASCII, so that nothing in it can end the header field. */
const TARGET = /^\/[\x21-\x7e]{0,2000}$/

export function plainHttpAnswer(
  { method, target, host }: PlainRequest,
  addresses: ListenerAddresses,
): RawAnswer {
  const base = addressOf(host, addresses)
  const body = `This port speaks HTTPS.${base === undefined ? '' : ` Use ${base} instead.`}\n`
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    // A 308 may be cached (RFC 9110 §15.4.9), but the address may change.
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  const isHead = method === 'HEAD'
  const shown = isHead ? '' : body
  // R021: nothing that was posted may be posted again, and its secrets were already readable on the way.
  if (base === undefined || (method !== 'GET' && !isHead)) {
    return { status: 400, reason: 'BAD_REQUEST', headers, body: shown }
  }
  const location = `${base}${TARGET.test(target) ? target : '/'}`
  return {
    status: 308,
    reason: 'Permanent Redirect',
    headers: { ...headers, location },
    body: shown,
  }
}

/** The configured address that the request names, else the first one: never the Host field itself (R058). */
function addressOf(
  host: string | undefined,
  { baseUrls, baseUrlOf }: ListenerAddresses,
): string | undefined {
  if (host === undefined) return baseUrls[0]
  try {
    return baseUrlOf({ headers: { host }, rawHeaders: ['host', host] })
  } catch {
    return baseUrls[0]
  }
}
