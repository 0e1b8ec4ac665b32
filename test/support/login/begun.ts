/**
 * Everything that one login method can begin: a session with a refresh token, a session with a `zt-session` token, and
 * a code that is not exchanged yet; and what happens to each when the credential is withdrawn.
 */
import assert from 'node:assert/strict'
import { eventsOf } from '../audit.ts'
import { presenting, submitCertificate } from '../certificates/certificate-login.ts'
import { makeCsr } from '../certificates/csr.ts'
import type { MadeCertificate } from '../certificates/openssl.ts'
import { CERTIFICATES } from '../edge/live-session.ts'
import type { Reply } from '../http-client.ts'
import { bearers, submitJwt } from '../idp/jwt-login.ts'
import type { Service } from '../service.ts'
import { answerTo, IDENTITY, INVALID, NO_SUCH_SESSION } from './challenges.ts'
import { CLIENT_API, ztSession } from './legacy.ts'
import {
  answerOf,
  bearer,
  beginLogin,
  exchange,
  REDIRECT_URI,
  submitPassword,
  type Tokens,
} from './login.ts'
import { assertOauthError, assertRefreshRefused, refresh, refreshed } from './refresh.ts'

/** How to log in, for each of the two kinds. */
export interface Way {
  submit(authRequestId: string): Promise<Reply>
  authenticate(): Promise<Reply>
}

export function byPassword(
  service: Service,
  { username, password }: { readonly username: string; readonly password: string },
): Way {
  const json = { username, password }
  return {
    submit: (authRequestId) => submitPassword(service, authRequestId, json),
    authenticate: () => service.call(`${CLIENT_API}/authenticate?method=password`, { json }),
  }
}

export function byCertificate(
  service: Service,
  leaf: MadeCertificate,
  ...others: readonly MadeCertificate[]
): Way {
  const client = presenting(service, leaf, ...others)
  return {
    submit: (authRequestId) => submitCertificate(client, authRequestId),
    authenticate: () => client.call(`${CLIENT_API}/authenticate?method=cert`, { method: 'POST' }),
  }
}

export function byJwt(service: Service, jwt: string): Way {
  const path = `${CLIENT_API}/authenticate?method=ext-jwt`
  return {
    submit: (authRequestId) => submitJwt(service, authRequestId, jwt),
    authenticate: () => service.call(path, { method: 'POST', ...bearers(jwt) }),
  }
}

export interface IssuedCode {
  readonly code: string
  readonly code_verifier: string
  readonly redirect_uri: string
}

/** Logs in until the code is issued. */
export async function codeBy(service: Service, way: Way): Promise<IssuedCode> {
  const { verifier, authRequestId } = await beginLogin(service, { scope: 'openid offline_access' })
  const code = answerOf(await way.submit(authRequestId)).get('code') ?? ''
  return { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
}

export async function tokensBy(service: Service, way: Way) {
  const reply = await exchange(service, { ...(await codeBy(service, way)) })
  assert.equal(reply.status, 200, reply.text)
  return reply.json() as Tokens & { readonly refresh_token: string }
}

export async function ztTokenBy(way: Way): Promise<string> {
  const reply = await way.authenticate()
  assert.equal(reply.status, 200, reply.text)
  return reply.json().data.token
}

export interface Begun {
  readonly tokens: Tokens & { readonly refresh_token: string }
  readonly zt: string
  readonly code: IssuedCode
}

export async function beginAll(service: Service, way: Way): Promise<Begun> {
  const tokens = await tokensBy(service, way)
  const zt = await ztTokenBy(way)
  return { tokens, zt, code: await codeBy(service, way) }
}

/**
 * Asserts a refusal wherever a login is checked again: for a refresh, a `zt-session`, a code, and a session
 * certificate, which would outlive the access token. `reason` is the one in the audit log.
 */
export async function assertWithdrawn(service: Service, begun: Begun, reason: string) {
  const { tokens, zt, code } = begun
  const refused = await refresh(service, tokens.refresh_token)
  assertRefreshRefused(refused)
  assert.equal(await refusalOf(service, refused), reason)

  assertNoSession(await service.call(IDENTITY, ztSession(zt)))
  const { pem: csr } = await makeCsr()
  assertNoSession(await service.call(CERTIFICATES, { ...ztSession(zt), json: { csr } }))
  const byBearer = await service.call(CERTIFICATES, {
    ...bearer(tokens.access_token),
    json: { csr },
  })
  assert.equal(byBearer.status, 401, byBearer.text)
  assert.equal(byBearer.json().error.code, 'UNAUTHORIZED')
  assert.equal(byBearer.headers['www-authenticate'], INVALID)

  await assertCodeRefused(service, code, reason)
}

/** RFC 6749 §5.2: `invalid_grant`, and the audit log says why. */
export async function assertCodeRefused(service: Service, code: IssuedCode, reason: string) {
  const reply = await exchange(service, { ...code })
  assertOauthError(reply, 400, 'invalid_grant')
  assert.equal(await refusalOf(service, reply), reason)
}

/** A refusal that may be temporary spends nothing: what was begun continues. A code is exchanged once. */
export async function assertBackAgain(service: Service, { tokens, zt }: Begun) {
  await refreshed(service, tokens.refresh_token)
  assert.equal((await service.call(IDENTITY, ztSession(zt))).status, 200)
  assert.equal(await answerTo(service, tokens.access_token), 'taken')
}

export function assertNoSession(reply: Reply): void {
  assert.equal(reply.status, 401, reply.text)
  assert.equal(reply.json().error.code, 'UNAUTHORIZED')
  assert.equal(reply.headers['www-authenticate'], NO_SUCH_SESSION)
}

/** The reason of the one `token.refused` event of a response. */
export async function refusalOf(
  service: Pick<Service, 'config'>,
  reply: Pick<Reply, 'headers'>,
): Promise<string | null | undefined> {
  const [event, ...more] = await eventsOf(service, reply)
  assert.deepEqual(more, [])
  assert.equal(event?.type, 'token.refused')
  return event.reason
}
