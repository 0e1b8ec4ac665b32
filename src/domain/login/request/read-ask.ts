/**
 * Phase two of an authorization request: the client and its redirect URI are verified, everything else is read
 * here, and what is wrong travels back over the redirect. SPEC Authorization; D-5, D-9.
 */
import { utf8 } from '../../../base/encoding.ts'
import { type Duration, seconds } from '../../../base/time/duration.ts'
import { Failure } from '../../../errors/catalogue.ts'
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
import type { ClientAsk } from './auth-request.ts'
import type { VerifiedRedirect } from './verified-redirect.ts'

/** The parameters as they came, each with every value it was given. */
export type Parameters = ReadonlyMap<string, readonly string[]>

export interface Refusal {
  readonly error: AuthorizationError
  readonly description: string
}

export type AskResult =
  | {
      readonly outcome: 'asked'
      readonly ask: ClientAsk
      /** SPEC Authorization: a hint; the login takes any method all the same. */
      readonly method: PrimaryMethod | undefined
    }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }

/** RFC 6749 §3.1: request parameters are not included more than once. `configTypes` is ours and repeats (D-9). */
const SINGLE = [
  'response_type',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'prompt',
  'max_age',
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
  // RFC 7636 §4.3 makes an absent method `plain`; we do not inherit that (R002).
  if (one('code_challenge_method') !== 'S256') {
    return refuse('invalid_request', 'code_challenge_method must be S256')
  }
  if (!isCodeChallenge(codeChallenge)) {
    return refuse('invalid_request', 'code_challenge must be 43 base64url characters')
  }
  const method = PRIMARY_METHODS.find((known) => known === one('method'))
  if (one('method') !== undefined && method === undefined) {
    return refuse('invalid_request', `method must be one of ${PRIMARY_METHODS.join(', ')}`)
  }
  // OIDC Core §3.1.2.1: nobody is asked anything, and there is never a login to build on.
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
      state: one('state'),
      nonce: one('nonce'),
      prompt: prompts.includes('login') || maxAge === 0 ? 'login' : undefined,
      maxAge,
      configTypes,
    },
  }
}

/** OIDC Core §3.1.2.1. Nine digits are more than thirty years. */
function readMaxAge(text: string | undefined): Duration | undefined | 'invalid' {
  if (text === undefined) return undefined
  return /^[0-9]{1,9}$/.test(text) ? seconds(Number(text)) : 'invalid'
}

/** D-9: the union without repeats; undefined when it is more than a token should carry. */
export function mergeConfigTypes(
  asked: readonly string[],
  added: readonly string[],
): readonly string[] | undefined {
  const all = [...new Set([...asked, ...added])]
  const isTooMuch =
    all.length > MOST_CONFIG_TYPES || utf8(all.join('')).length > LONGEST_CONFIG_TYPES
  return isTooMuch ? undefined : all
}

/** The same for the body of a login. Thrown: COULD_NOT_VALIDATE. */
export function addConfigTypes(
  asked: readonly string[],
  added: readonly string[],
): readonly string[] {
  const all = mergeConfigTypes(asked, added)
  if (all !== undefined) return all
  const field = { field: 'configTypes', reason: 'are too many' }
  throw new Failure('COULD_NOT_VALIDATE', { field })
}

/** The mode in which the answer travels; undefined when the asked one is unknown. Needed for refusals too. */
export function readResponseMode(parameters: Parameters): ResponseMode | undefined {
  const values = parameters.get('response_mode') ?? []
  if (values.length === 0) return 'query'
  return values.length === 1 ? RESPONSE_MODES.find((mode) => mode === values[0]) : undefined
}

function refuse(error: AuthorizationError, description: string): AskResult {
  return { outcome: 'refused', refusal: { error, description } }
}
