/**
 * What a client does with its tokens after the login: refreshing, and the endpoints that end or look at them. Logins
 * here ask for `offline_access`, so that there is something to refresh.
 */
import assert from 'node:assert/strict'
import type { CallOptions, Reply } from '../http-client.ts'
import { ADMIN, type Service as RunningService } from '../service.ts'
import { sql } from '../stores/sql.ts'
import { exchange, logIn, type Tokens } from './login.ts'

type Service = Pick<RunningService, 'baseUrl' | 'call'>
type Form = Readonly<Record<string, string | undefined>>

export interface OfflineTokens extends Tokens {
  readonly refresh_token: string
  readonly scope: string
}

/** A whole password login that ends with a refresh token. */
export async function logInOffline(
  service: Service,
  changes: Form = {},
  credentials: { readonly username: string; readonly password: string } = ADMIN,
): Promise<OfflineTokens> {
  const asked = { scope: 'openid offline_access', ...changes }
  return (await logIn(service, asked, credentials)) as OfflineTokens
}

/** The refresh as it is meant to be, but for the changes; undefined leaves a field out. */
export function refresh(service: Service, token: string, changes: Form = {}): Promise<Reply> {
  return exchange(service, { grant_type: 'refresh_token', refresh_token: token, ...changes })
}

/** A refresh that succeeds. */
export async function refreshed(
  service: Service,
  token: string,
  changes: Form = {},
): Promise<OfflineTokens> {
  const reply = await refresh(service, token, changes)
  assert.equal(reply.status, 200, reply.text)
  return reply.json()
}

/** A form post to one of the OAuth endpoints. */
export function post(
  service: Service,
  path: string,
  form: Form,
  options: CallOptions = {},
): Promise<Reply> {
  const kept = Object.entries(form).filter((pair): pair is [string, string] => !!pair[1])
  return service.call(path, { method: 'POST', ...options, form: kept })
}

export function revoke(service: Service, token: string, changes: Form = {}): Promise<Reply> {
  return post(service, '/oidc/revoke', { client_id: 'service', token, ...changes })
}

/** RFC 6749 §5.2, D-28: `error`, `error_description`, our code and the next action (D-323), nothing else, and nobody keeps it. */
export function assertOauthError(reply: Reply, status: number, error: string): void {
  assert.equal(reply.status, status, reply.text)
  const body = reply.json()
  assert.equal(body.error, error, reply.text)
  assert.deepEqual(Object.keys(body), ['error', 'error_description', 'code', 'next'])
  assert.match(body.error_description, /^[ !#-[\]-~]+$/, 'RFC 6749 §5.2: printable ASCII')
  assert.equal(reply.headers['cache-control'], 'no-store')
}

/** Every refusal of a refresh token says this, whatever was wrong with it (D-28). */
const REFUSED_REFRESH = {
  error: 'invalid_grant',
  error_description:
    'the refresh token is unknown, spent or expired, or its identity may no longer log in',
  code: 'INVALID_REFRESH_TOKEN',
  next: 'sign-in',
}

/** Refused, in the one wording; a refusal with its own words would tell a thief what he has. */
export function assertRefreshRefused(reply: Reply): void {
  assertOauthError(reply, 400, 'invalid_grant')
  assert.deepEqual(reply.json(), REFUSED_REFRESH)
}

/**
 * The audit events of one session after its login, sorted: `type`, or `type: reason`. Two of one moment have no order in
 * time.
 */
export async function eventsOf(
  service: Pick<RunningService, 'config'>,
  sessionId: string,
): Promise<readonly string[]> {
  const rows = await sql(
    service,
    `select type, reason from events where session_id = '${sessionId}' and type <> 'login.succeeded'`,
  )
  const words = rows.map(({ type, reason }) => (reason === null ? `${type}` : `${type}: ${reason}`))
  return words.sort()
}
