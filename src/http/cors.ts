/**
 * Decides which other origins' scripts may read a response. D-33, R112: discovery and keys are open to all origins;
 * token and the APIs to the configured origins; everything else to none. `Authorization` never goes with `*`.
 */
import {
  AUTH_REQUEST_ID_HEADER,
  DPOP_HEADER,
  DPOP_NONCE_HEADER,
  ENDING_HEADER,
  EXPIRATION_SECONDS_HEADER,
  EXPIRES_AT_HEADER,
  MFA_VALIDATION_CODE_HEADER,
  REQUEST_ID_HEADER,
  TOTP_REQUIRED_HEADER,
  ZT_SESSION_HEADER,
} from '../protocol/headers.ts'
import type { HeaderFields } from './answer.ts'
import type { RequestHead } from './reading/header-fields.ts'

export type Cors = 'open' | 'listed' | 'none'

const EXPOSED = [
  AUTH_REQUEST_ID_HEADER,
  DPOP_NONCE_HEADER,
  ENDING_HEADER,
  EXPIRATION_SECONDS_HEADER,
  EXPIRES_AT_HEADER,
  REQUEST_ID_HEADER,
  TOTP_REQUIRED_HEADER,
  ZT_SESSION_HEADER,
  'retry-after',
  'www-authenticate',
]

/** The header fields that the APIs read, besides those that every script may send. */
const READ = [
  'authorization',
  'content-type',
  DPOP_HEADER,
  MFA_VALIDATION_CODE_HEADER,
  ZT_SESSION_HEADER,
]

export function corsHeaders(
  head: Pick<RequestHead, 'headers'>,
  cors: Cors,
  origins: readonly string[],
): HeaderFields {
  if (cors === 'none') return {}
  if (cors === 'open') return { 'access-control-allow-origin': '*' }
  const { origin } = head.headers
  if (origin === undefined || !origins.includes(origin)) return { vary: 'Origin' }
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED.join(', '),
  }
}

/** The response to a preflight: the same decision, with the methods and fields of the address. */
export function preflightHeaders(
  head: Pick<RequestHead, 'headers'>,
  cors: Cors,
  origins: readonly string[],
  methods: readonly string[],
): HeaderFields {
  const decision = corsHeaders(head, cors, origins)
  if (!('access-control-allow-origin' in decision)) return decision
  return {
    ...decision,
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': cors === 'open' ? 'content-type' : READ.join(', '),
    'access-control-max-age': '600',
  }
}
