/**
 * A session of either kind and the calls that are made with it: for what is the same for both. SPEC What the service
 * does 4.
 */
import assert from 'node:assert/strict'
import { decodeJwt } from 'jose'
import type { CallOptions, Reply } from '../http-client.ts'
import { authenticate, CLIENT_API, type Credentials } from '../login/legacy.ts'
import { beginLogin, exchangeOf, submitPassword } from '../login/login.ts'
import { ADMIN, type Service as RunningService } from '../service.ts'

type Service = Pick<RunningService, 'baseUrl' | 'call'>

export interface LiveSession {
  readonly kind: 'oidc' | 'legacy'
  readonly id: string
  readonly identityId: string
  /** The credential: an access token, or a `zt-session` token. */
  readonly token: string
  /** Of an OIDC session that asked for `offline_access`. */
  readonly refreshToken: string | undefined
  readonly idToken: string | undefined
  /** The fields that carry the credential. */
  readonly headers: Readonly<Record<string, string>>
  /** A call with the credential; at another instance when one is given. */
  call(path: string, options?: CallOptions, at?: Service): Promise<Reply>
}

/** An OIDC session that can be refreshed, unless another scope is asked for. */
export async function oidcSession(
  service: Service,
  { username, password }: Credentials = ADMIN,
  scope = 'openid offline_access',
): Promise<LiveSession> {
  const login = await beginLogin(service, { scope })
  const proven = await submitPassword(service, login.authRequestId, { username, password })
  const reply = await exchangeOf(service, login, proven)
  assert.equal(reply.status, 200, reply.text)
  const { access_token, refresh_token, id_token } = reply.json()
  const { z_asid, sub } = decodeJwt(access_token)
  return live(service, {
    kind: 'oidc',
    id: String(z_asid),
    identityId: String(sub),
    token: access_token,
    refreshToken: refresh_token,
    idToken: id_token,
    headers: { authorization: `Bearer ${access_token}` },
  })
}

export async function legacySession(
  service: Service,
  credentials: Credentials = ADMIN,
): Promise<LiveSession> {
  return liveLegacy(service, await authenticate(service, credentials))
}

/** `service` must present a client certificate: `presenting(service, leaf)`. */
export async function legacyCertificateSession(service: Service): Promise<LiveSession> {
  const reply = await service.call(`${CLIENT_API}/authenticate?method=cert`, { method: 'POST' })
  return liveLegacy(service, reply)
}

function liveLegacy(service: Service, reply: Reply): LiveSession {
  assert.equal(reply.status, 200, reply.text)
  const { id, identityId, token } = reply.json().data
  return live(service, {
    kind: 'legacy',
    id,
    identityId,
    token,
    refreshToken: undefined,
    idToken: undefined,
    headers: { 'zt-session': token },
  })
}

export const SESSIONS = { oidc: oidcSession, legacy: legacySession } as const

function live(service: Service, session: Omit<LiveSession, 'call'>): LiveSession {
  return {
    ...session,
    call: (path, options = {}, at = service) =>
      at.call(path, { ...options, headers: { ...options.headers, ...session.headers } }),
  }
}

export const CERTIFICATES = `${CLIENT_API}/current-api-session/certificates`

/** POST …/certificates. */
export function requestCertificate(
  session: LiveSession,
  csr: string,
  at?: Service,
): Promise<Reply> {
  return session.call(CERTIFICATES, { json: { csr } }, at)
}

export interface IssuedCertificate {
  readonly id: string
  readonly certificate: string
  readonly cas: string
}

/** A certificate that is issued. */
export async function issueCertificate(
  session: LiveSession,
  csr: string,
  at?: Service,
): Promise<IssuedCertificate> {
  const reply = await requestCertificate(session, csr, at)
  assert.equal(reply.status, 201, reply.text)
  return reply.json().data
}
