/**
 * Why a call of an OIDC session was refused, if the session can do something about it: SPEC 401 challenges. Other
 * refusals are passed to the caller.
 */
import type { ExtJwtQuery } from '../protocol/auth-query.ts'
import { findExtJwt, queriesOf } from './login/factors.ts'
import { challengesOf } from './wire/answers.ts'
import type { WireAnswer } from './wire/https-wire.ts'

export type Fault =
  | { readonly what: 'token'; readonly error: 'expired' | 'invalid' }
  | { readonly what: 'secondary-jwt'; readonly query: ExtJwtQuery }

/** RFC 9449 §7.1: a token that is bound to a key is refused in its own scheme. */
const SCHEMES = ['bearer', 'dpop']

/** Undefined if a new token would not help. */
export function faultOf(answer: WireAnswer, clientId: string): Fault | undefined {
  for (const { scheme, parameters } of challengesOf(answer)) {
    if (!SCHEMES.includes(scheme.toLowerCase())) continue
    const realm = parameters.get('realm')
    const error = parameters.get('error')
    if (realm === `${clientId}-oidc` && (error === 'expired' || error === 'invalid')) {
      return { what: 'token', error }
    }
    if (realm === `${clientId}-secondary-ext-jwt`) {
      const query = findExtJwt(queriesOf(answer)) ?? queryFrom(parameters)
      return { what: 'secondary-jwt', query }
    }
  }
  return undefined
}

/** A challenge names the signer; the program knows how to get its JWTs. */
function queryFrom(parameters: ReadonlyMap<string, string>): ExtJwtQuery {
  return {
    typeId: 'EXT-JWT',
    provider: 'url',
    httpMethod: 'GET',
    httpUrl: '',
    id: parameters.get('id') ?? '',
    issuer: parameters.get('issuer') ?? '',
    clientId: '',
    scopes: [],
  }
}
