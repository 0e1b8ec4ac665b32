/**
 * The credentials in a request. D-14: several bearer tokens are sent as several `Authorization` fields or as one field
 * `Bearer a, Bearer b`; Node keeps only the first field in `headers`, so we read `rawHeaders`.
 */
import { Secret } from '../../base/secrets/secret.ts'
import { ZT_SESSION_HEADER } from '../../protocol/headers.ts'
import { type RequestHead, rawValues } from './header-fields.ts'

type RawHeaders = Pick<RequestHead, 'rawHeaders'>

/** Returns the tokens of the scheme Bearer (case-insensitive, RFC 9110 §11.1); other schemes are ignored. */
export function bearersOf(head: RawHeaders): readonly Secret[] {
  return tokensOf(head, 'bearer')
}

/** RFC 9449 §7.1: the tokens that come with a proof. An external JWT may stand beside them, as a bearer token. */
export function dpopTokensOf(head: RawHeaders): readonly Secret[] {
  return tokensOf(head, 'dpop')
}

function tokensOf(head: RawHeaders, scheme: 'bearer' | 'dpop'): readonly Secret[] {
  const tokens: Secret[] = []
  for (const field of rawValues(head, 'authorization')) {
    for (const part of field.split(',')) {
      const credentials = part.trim()
      if (credentials.slice(0, scheme.length).toLowerCase() !== scheme) continue
      const rest = credentials.slice(scheme.length)
      const token = rest.trimStart()
      if (rest === '' || token !== rest) tokens.push(new Secret(token))
    }
  }
  return tokens
}

export function ztSessionOf(head: RawHeaders): Secret | undefined {
  const values = rawValues(head, ZT_SESSION_HEADER)
  // D-120. Two readers could pick different sessions from a repeated field. Joined (RFC 9110 §5.3), it matches neither.
  return values.length === 0 ? undefined : new Secret(values.join(', '))
}
