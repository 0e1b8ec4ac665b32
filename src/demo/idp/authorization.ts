/**
 * The parameters of the authorization endpoint of the demo's IdP, in the query and again in the form of its page.
 * Client and redirect URI are checked first: a fault there is never redirected (RFC 6749 §4.1.2.1), any other one is.
 */
import type { FormFields } from '../../base/form.ts'
import { isCodeChallenge } from '../../protocol/pkce.ts'

export interface Authorization {
  readonly redirectUri: string
  readonly codeChallenge: string
  readonly state: string | undefined
  readonly nonce: string | undefined
}

export type ReadAuthorization =
  | { readonly is: 'good'; readonly asked: Authorization }
  /** For a page. */
  | { readonly is: 'refused'; readonly why: string }
  /** For the client. */
  | { readonly is: 'returned'; readonly redirectUri: string; readonly answer: OAuthError }

export interface OAuthError {
  readonly error: string
  readonly state?: string
}

export interface RegisteredClient {
  readonly clientId: string
  readonly redirectUris: readonly string[]
}

/** The fields that the page sends along, so that nothing is stored in between. */
export const CARRIED = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
] as const

export function readAuthorization(fields: FormFields, client: RegisteredClient): ReadAuthorization {
  const one = (name: (typeof CARRIED)[number] | 'prompt') => {
    const [value, ...others] = fields.get(name) ?? []
    return others.length === 0 ? value : undefined
  }
  if (one('client_id') !== client.clientId) return refused('the client is unknown here')
  const redirectUri = one('redirect_uri')
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) {
    return refused('the redirect_uri is not one of this client')
  }
  const state = one('state')
  const returned = (error: string): ReadAuthorization => ({
    is: 'returned',
    redirectUri,
    answer: { error, ...(state === undefined ? {} : { state }) },
  })
  if (CARRIED.some((name) => (fields.get(name)?.length ?? 0) > 1)) {
    return returned('invalid_request')
  }
  if (one('response_type') !== 'code') return returned('unsupported_response_type')
  if (one('scope')?.split(' ').includes('openid') !== true) return returned('invalid_scope')
  const codeChallenge = one('code_challenge') ?? ''
  if (one('code_challenge_method') !== 'S256' || !isCodeChallenge(codeChallenge)) {
    return returned('invalid_request')
  }
  // There are no sessions here: every user is asked, every time.
  if (one('prompt') === 'none') return returned('login_required')
  return { is: 'good', asked: { redirectUri, codeChallenge, state, nonce: one('nonce') } }
}

const refused = (why: string): ReadAuthorization => ({ is: 'refused', why })
