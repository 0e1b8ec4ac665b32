/** The response to plain HTTP at the port of an HTTPS server: one sentence, and a redirect to its https address. D-339. */
import type { RawAnswer } from './https-server.ts'
import type { PlainRequest } from './plain-http.ts'

/** Visible ASCII, so that nothing in it can end the header field. */
const TARGET = /^\/[\x21-\x7e]{0,2000}$/

/** `base` is an address that the server knows to be its own, such as `https://localhost:1280`. */
export function answerAtHttps(
  { method, target }: PlainRequest,
  base: string | undefined,
): RawAnswer {
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
