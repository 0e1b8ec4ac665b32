/**
 * The response to the client over its redirect URI: a code or an error. RFC 6749 §4.1.2 and §4.1.2.1, RFC 9207 (`iss`),
 * OAuth 2.0 Form Post. The response mode decides how it is sent; the edge writes it.
 */
import type { ClientAsk } from './auth-request.ts'
import type { Refusal } from './read-ask.ts'

export interface ClientAnswer extends Pick<ClientAsk, 'redirectUri' | 'responseMode'> {
  readonly parameters: readonly (readonly [name: string, value: string])[]
}

type Addressee = Pick<ClientAsk, 'redirectUri' | 'responseMode' | 'issuer' | 'state'>

export function codeAnswer(to: Addressee, code: string): ClientAnswer {
  const { parameters, ...rest } = answer(to, [])
  // D-308: last, because some clients take everything after `code=` as the code.
  return { ...rest, parameters: [...parameters, ['code', code]] }
}

export function refusalAnswer(to: Addressee, refusal: Refusal): ClientAnswer {
  return answer(to, [
    ['error', refusal.error],
    ['error_description', refusal.description],
  ])
}

/**
 * Returns `state` exactly as the client sent it, and omits it if the client sent none (R015). Always adds `iss` (R017).
 */
function answer(to: Addressee, parameters: [string, string][]): ClientAnswer {
  const { redirectUri, responseMode, issuer, state } = to
  const echoed: [string, string][] = state === undefined ? [] : [['state', state]]
  return { redirectUri, responseMode, parameters: [...parameters, ...echoed, ['iss', issuer]] }
}
