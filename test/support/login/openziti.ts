/** Logins as existing clients of OpenZiti controllers do them, request by request: D-314. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { CallOptions, Reply } from '../http-client.ts'
import { ADMIN, type Service as RunningService } from '../service.ts'

type Service = Pick<RunningService, 'baseUrl' | 'call'>

export const OPENZITI = { edge: { brand: 'openziti' } } as const
export const TOKEN_TYPES = 'urn:ietf:params:oauth:token-type'

/** What the C SDK's HTTP library escapes in a query, and nothing else. */
function escapedByC(text: string): string {
  return text.replaceAll(
    /[\s/:"<>%{}|\\^`]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}

export const C_REDIRECT = 'http://localhost:20314/auth/callback'

/** The authorization request of the C SDK: a POST without a body, everything in the query, in this order. */
export async function authorizeAsC(service: Service) {
  const verifier = randomBytes(40).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const state = randomBytes(30).toString('base64url')
  const query = [
    ['client_id', 'openziti'],
    ['scope', 'openid offline_access'],
    ['response_type', 'code'],
    ['redirect_uri', C_REDIRECT],
    ['code_challenge', challenge],
    ['code_challenge_method', 'S256'],
    ['state', state],
    ['audience', 'openziti'],
  ] as const
  const text = query.map(([name, value]) => `${name}=${escapedByC(value)}`).join('&')
  const reply = await service.call(`/oidc/authorize?${text}`, {
    method: 'POST',
    headers: { accept: 'application/json' },
  })
  assert.equal(reply.status, 302, reply.text)
  const [, id = ''] = (reply.headers.location ?? '').split('authRequestID=')
  assert.ok(
    id.length > 0 && id.length <= 232,
    `the buffer of the client holds 232, not ${id.length}`,
  )
  return { id, verifier, state }
}

/** Follows the redirect of a login at the controller, as the C SDK does: what comes after `code=` is the code. */
export async function codeForC(service: Service, login: Reply): Promise<string> {
  assert.equal(login.status, 302, login.text)
  const { pathname, search, origin } = new URL(login.headers.location ?? '')
  assert.equal(origin, service.baseUrl)
  const reply = await service.call(`${pathname}${search}`, {
    headers: { accept: 'application/json' },
  })
  assert.equal(reply.status, 302, reply.text)
  const location = reply.headers.location ?? ''
  assert.ok(location.startsWith(C_REDIRECT), location)
  return location.slice(location.indexOf('code=') + 'code='.length)
}

const basic = (user: string) => `Basic ${Buffer.from(`${user}:`).toString('base64url')}`

/** A whole login as the Go SDK does it, by password. */
export async function logInAsGo(service: Service) {
  const verifier = randomBytes(32).toString('base64url')
  const parameters = new URLSearchParams({
    client_id: 'native',
    response_type: 'code',
    scope: 'openid offline_access',
    state: 's',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    redirect_uri: 'http://localhost:8080/auth/callback',
    nonce: 'n',
  })
  const begun = await service.call(`/oidc/authorize?${parameters}`)
  const page = await service.call(begun.headers.location ?? '')
  const id = String(page.headers['auth-request-id'])
  const login = await service.call('/oidc/login/password', {
    form: Object.entries({ id, ...ADMIN }),
  })
  const { pathname, search } = new URL(login.headers.location ?? '')
  const sent = await service.call(`${pathname}${search}`)
  const code = new URL(sent.headers.location ?? '').searchParams.get('code') ?? ''
  const reply = await service.call('/oidc/oauth/token', {
    headers: { authorization: basic('native') },
    form: Object.entries({
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'http://localhost:8080/auth/callback',
      code_verifier: verifier,
    }),
  })
  assert.equal(reply.status, 200, reply.text)
  return reply.json()
}

/** One of the two calls with which the Go SDK refreshes. */
export function exchangeAsGo(
  service: Service,
  refreshToken: string,
  requested: 'refresh_token' | 'id_token' | 'access_token',
  changes: Readonly<Record<string, string>> = {},
  options: CallOptions = {},
): Promise<Reply> {
  return service.call('/oidc/oauth/token', {
    headers: { authorization: basic('native') },
    form: Object.entries({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: refreshToken,
      subject_token_type: `${TOKEN_TYPES}:refresh_token`,
      requested_token_type: `${TOKEN_TYPES}:${requested}`,
      scope: '',
      actor_token: '',
      ...changes,
    }),
    ...options,
  })
}
