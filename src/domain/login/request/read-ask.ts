/**
 * Phase two of an authorization request. The client and its redirect URI have been verified; this reads everything
 * else, and errors go back over the redirect. SPEC Authorization; D-5, D-9.
 */
import { utf8 } from '../../../base/encoding.ts'
import { type Duration, seconds } from '../../../base/time/duration.ts'
import { isKeyThumbprint } from '../../../protocol/dpop/proof.ts'
import { factorsForAcr } from '../../../protocol/factors/acr.ts'
import type { AuthorizationError } from '../../../protocol/oauth.ts'
import {
  type Issuer,
  RESPONSE_MODES,
  type ResponseMode,
  SCOPES,
  type Scope,
} from '../../../protocol/oidc.ts'
import { isCodeChallenge } from '../../../protocol/pkce.ts'
import { PRIMARY_METHODS, type PrimaryMethod } from '../../identities/primary-methods.ts'
import { invalid } from '../../refusals.ts'
import type { ClientAsk } from './auth-request.ts'
import type { VerifiedRedirect } from './verified-redirect.ts'

/** The parameters as received, each with all of its values. */
export type Parameters = ReadonlyMap<string, readonly string[]>

export interface Refusal {
  readonly error: AuthorizationError
  readonly description: string
}

export type AskResult =
  | {
      readonly outcome: 'asked'
      readonly ask: ClientAsk
      /** SPEC Authorization: only a hint; the login accepts any method. */
      readonly method: PrimaryMethod | undefined
    }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }

/** RFC 6749 §3.1: request parameters must not be repeated. `configTypes` is our own and may be (D-9). */
const SINGLE = [
  'response_type',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'dpop_jkt',
  'response_mode',
  'prompt',
  'max_age',
  'acr_values',
  'method',
  'request',
  'request_uri',
] as const
type Single = (typeof SINGLE)[number]

/** D-9. */
const MOST_CONFIG_TYPES = 64
const LONGEST_CONFIG_TYPES = 2048 // bytes

export function readAsk(
  verified: { clientId: string; redirectUri: VerifiedRedirect; issuer: Issuer },
  parameters: Parameters,
): AskResult {
  const repeated = SINGLE.find((name) => (parameters.get(name)?.length ?? 0) > 1)
  if (repeated !== undefined) return refuse('invalid_request', `${repeated} is repeated`)

  const one = (name: Single): string | undefined => parameters.get(name)?.[0]

  if (one('request') !== undefined) {
    return refuse('request_not_supported', 'request objects are not supported')
  }
  if (one('request_uri') !== undefined) {
    return refuse('request_uri_not_supported', 'request_uri is not supported')
  }
  const responseType = one('response_type')
  // D-105.
  if (responseType === undefined) return refuse('invalid_request', 'response_type is missing')
  if (responseType !== 'code') {
    return refuse('unsupported_response_type', 'response_type must be code')
  }
  if (readResponseMode(parameters) === undefined) {
    return refuse('invalid_request', `response_mode must be one of ${RESPONSE_MODES.join(', ')}`)
  }
  const asked = one('scope')?.split(' ') ?? []
  if (!asked.includes('openid')) return refuse('invalid_scope', 'scope must contain openid')

  const codeChallenge = one('code_challenge')
  if (codeChallenge === undefined) return refuse('invalid_request', 'code_challenge is missing')
  // RFC 7636 §4.3 defaults a missing method to `plain`; we do not (R002).
  if (one('code_challenge_method') !== 'S256') {
    return refuse('invalid_request', 'code_challenge_method must be S256')
  }
  if (!isCodeChallenge(codeChallenge)) {
    return refuse('invalid_request', 'code_challenge must be 43 base64url characters')
  }
  const dpopKey = one('dpop_jkt')
  if (dpopKey !== undefined && !isKeyThumbprint(dpopKey)) {
    return refuse('invalid_request', 'dpop_jkt must be 43 base64url characters')
  }
  const method = PRIMARY_METHODS.find((known) => known === one('method'))
  if (one('method') !== undefined && method === undefined) {
    return refuse('invalid_request', `method must be one of ${PRIMARY_METHODS.join(', ')}`)
  }
  // OIDC Core §3.1.2.1: the user must not be prompted, and there is never an existing login to reuse.
  const prompts = one('prompt')?.split(' ') ?? []
  if (prompts.includes('none')) {
    return refuse('login_required', 'a login needs the person or program to be asked')
  }
  const maxAge = readMaxAge(one('max_age'))
  if (maxAge === 'invalid') {
    return refuse('invalid_request', 'max_age must be a whole number of seconds, at most 999999999')
  }
  const configTypes = mergeConfigTypes(parameters.get('configTypes') ?? [], [])
  if (configTypes === undefined) return refuse('invalid_request', 'configTypes are too many')

  return {
    outcome: 'asked',
    method,
    ask: {
      ...verified,
      responseMode: readResponseMode(parameters) ?? 'query',
      scopes: SCOPES.filter((scope): scope is Scope => asked.includes(scope)), // R019: unknown ones are dropped
      codeChallenge,
      dpopKey,
      state: one('state'),
      nonce: one('nonce'),
      prompt: prompts.includes('login') || maxAge === 0 ? 'login' : undefined,
      maxAge,
      stepUp: factorsForAcr(one('acr_values')),
      configTypes,
    },
  }
}

/** OIDC Core §3.1.2.1. Nine digits are enough for more than thirty years. */
function readMaxAge(text: string | undefined): Duration | undefined | 'invalid' {
  if (text === undefined) return undefined
  return /^[0-9]{1,9}$/.test(text) ? seconds(Number(text)) : 'invalid'
}

/** D-9: returns the union without duplicates, or undefined if it is too large for a token. */
export function mergeConfigTypes(
  asked: readonly string[],
  added: readonly string[],
): readonly string[] | undefined {
  const all = [...new Set([...asked, ...added])]
  const isTooMuch =
    all.length > MOST_CONFIG_TYPES || utf8(all.join('')).length > LONGEST_CONFIG_TYPES
  return isTooMuch ? undefined : all
}

/** The same for the body of a login. Throws COULD_NOT_VALIDATE. */
export function addConfigTypes(
  asked: readonly string[],
  added: readonly string[],
): readonly string[] {
  const all = mergeConfigTypes(asked, added)
  if (all === undefined) throw invalid('configTypes', 'are too many')
  return all
}

/** Returns the response mode, or undefined if the requested one is unknown. Error responses need it too. */
export function readResponseMode(parameters: Parameters): ResponseMode | undefined {
  const values = parameters.get('response_mode') ?? []
  if (values.length === 0) return 'query'
  return values.length === 1 ? RESPONSE_MODES.find((mode) => mode === values[0]) : undefined
}

function refuse(error: AuthorizationError, description: string): AskResult {
  return { outcome: 'refused', refusal: { error, description } }
}
