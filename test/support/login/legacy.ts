/** Sessions with a `zt-session` token, as a program without any library would have them: SPEC Legacy authentication. */
import assert from 'node:assert/strict'
import { ApiError } from '../../../src/contract/envelope.ts'
import type { CallOptions, Reply } from '../http-client.ts'
import { ADMIN, type Service as RunningService } from '../service.ts'
import { NO_SUCH_SESSION } from './challenges.ts'

type Service = Pick<RunningService, 'call'>

export const CLIENT_API = '/edge/client/v1'
export const MANAGEMENT_API = '/edge/management/v1'
export const APIS = [CLIENT_API, MANAGEMENT_API] as const

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** POST …/authenticate?method=password on the client API. */
export function authenticate(
  service: Service,
  { username, password }: Credentials = ADMIN,
  api: (typeof APIS)[number] = CLIENT_API,
): Promise<Reply> {
  return service.call(`${api}/authenticate?method=password`, { json: { username, password } })
}

/** The token of a login that went well, with or without something outstanding. */
export async function legacyToken(
  service: Service,
  credentials: Credentials = ADMIN,
): Promise<string> {
  const reply = await authenticate(service, credentials)
  assert.equal(reply.status, 200, reply.text)
  return reply.json().data.token
}

export const ztSession = (token: string) => ({ headers: { 'zt-session': token } })

/** Calls of one session. */
export function callsOf(service: Service, token: string) {
  return (path: string, options: CallOptions = {}): Promise<Reply> =>
    service.call(path, { ...options, headers: { ...options.headers, 'zt-session': token } })
}

/** The refusal of a session whose TOTP code is outstanding, to the letter: D-51. */
export function assertPartial(reply: Reply, isTotpEnrolled: boolean): void {
  assert.equal(reply.status, 401, reply.text)
  const body = reply.json()
  assert.deepEqual(ApiError.parse(body), body)
  assert.equal(body.error.code, 'UNAUTHORIZED')
  assert.equal(reply.headers['www-authenticate'], NO_SUCH_SESSION)
  assert.equal(reply.headers['totp-required'], 'true')
  assert.deepEqual(body.authQueries, [legacyTotpQuery(isTotpEnrolled)])
}

/** D-15, with the address of D-51. */
export function legacyTotpQuery(isTotpEnrolled: boolean): object {
  return {
    typeId: 'MFA',
    format: 'alphaNumeric',
    httpMethod: 'POST',
    httpUrl: './authenticate/mfa',
    minLength: 6,
    maxLength: 6,
    provider: 'service',
    isTotpEnrolled,
  }
}
