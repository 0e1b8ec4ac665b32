/**
 * One password login, step by step, as a program without any library would do it: each step can be taken alone, with
 * whatever a test wants to be wrong.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { CallOptions, Reply } from '../http-client.ts'
import { ADMIN, type Service as RunningService } from '../service.ts'

/** What a login needs: the service in this process, or one in a process of its own. */
type Service = Pick<RunningService, 'baseUrl' | 'call'>

export const REDIRECT_URI = 'http://127.0.0.1:9876/callback'

export interface Pkce {
  readonly verifier: string
  readonly challenge: string
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** The parameters of a good authorization request; a test changes or removes (undefined) what it is about. */
export function authorizationParameters(
  challenge: string,
  changes: Readonly<Record<string, string | undefined>> = {},
): URLSearchParams {
  const all = {
    response_type: 'code',
    client_id: 'service',
    redirect_uri: REDIRECT_URI,
    scope: 'openid',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'a-state',
    ...changes,
  }
  const kept = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return new URLSearchParams(kept)
}

export function authorize(
  service: Service,
  parameters: URLSearchParams,
  options: CallOptions = {},
): Promise<Reply> {
  return service.call(`/oidc/authorization?${parameters}`, options)
}

/** Begins a login and answers its auth request id. */
export async function beginLogin(
  service: Service,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<Pkce & { readonly authRequestId: string }> {
  const keys = pkce()
  const reply = await authorize(service, authorizationParameters(keys.challenge, changes))
  assert.equal(reply.status, 302, reply.text)
  const location = new URL(reply.headers.location ?? '', service.baseUrl)
  const authRequestId = location.searchParams.get('authRequestID')
  assert.ok(authRequestId, `no auth request id in ${location}`)
  return { ...keys, authRequestId }
}

interface Credentials {
  readonly username: string
  readonly password: string
}

export function submitPassword(
  service: Service,
  authRequestId: string,
  credentials: Credentials = ADMIN,
): Promise<Reply> {
  return service.call('/oidc/login/username', { json: { authRequestId, ...credentials } })
}

/** The parameters that a redirect carries to the client. */
export function answerOf(reply: Reply): URLSearchParams {
  assert.equal(reply.status, 302, reply.text)
  return new URL(reply.headers.location ?? '').searchParams
}

/** A login up to its code. */
export async function obtainCode(
  service: Service,
  changes: Readonly<Record<string, string | undefined>> = {},
  { username, password }: Credentials = ADMIN,
): Promise<Pkce & { readonly code: string; readonly redirectUri: string }> {
  const { verifier, challenge, authRequestId } = await beginLogin(service, changes)
  const answer = answerOf(await submitPassword(service, authRequestId, { username, password }))
  const code = answer.get('code')
  assert.ok(code)
  return { verifier, challenge, code, redirectUri: changes['redirect_uri'] ?? REDIRECT_URI }
}

export function exchange(
  service: Service,
  form: Readonly<Record<string, string | undefined>>,
): Promise<Reply> {
  const all = { grant_type: 'authorization_code', client_id: 'service', ...form }
  const kept = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return service.call('/oidc/token', { form: kept })
}

/** The exchange of the code that a reply redirects with. */
export function exchangeOf(
  service: Service,
  { verifier }: Pick<Pkce, 'verifier'>,
  reply: Reply,
): Promise<Reply> {
  return exchange(service, {
    code: answerOf(reply).get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  })
}

export interface Tokens {
  readonly access_token: string
  readonly id_token: string
  /** With the scope `offline_access`. */
  readonly refresh_token?: string
  readonly token_type: string
  readonly expires_in: number
}

/** A whole login, where nothing but the password is asked for. */
export async function logIn(
  service: Service,
  changes: Readonly<Record<string, string | undefined>> = {},
  credentials: Credentials = ADMIN,
): Promise<Tokens> {
  const { code, verifier, redirectUri } = await obtainCode(service, changes, credentials)
  const reply = await exchange(service, {
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
  })
  assert.equal(reply.status, 200, reply.text)
  return reply.json()
}

export const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
