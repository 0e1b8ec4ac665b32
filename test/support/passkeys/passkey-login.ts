/** The steps of logins with passkeys, each of which a test can take alone. */
import assert from 'node:assert/strict'
import { decodeJwt } from 'jose'
import type { Reply } from '../http-client.ts'
import { PASSWORD, partialLogin } from '../login/authenticator-app.ts'
import { beginLogin, exchangeOf } from '../login/login.ts'
import type { Administrator, CreatedIdentity, NewIdentity } from '../management.ts'
import type { Service } from '../service.ts'
import { type Lie, type SoftAuthenticator, softAuthenticator } from './authenticator.ts'

export const PASSKEY = '/oidc/login/passkey'

export interface PasskeyPerson extends CreatedIdentity {
  readonly key: SoftAuthenticator
  readonly recoveryCodes: readonly string[]
}

export function passkeyOptions(service: Service, id: string): Promise<Reply> {
  return service.call(`${PASSKEY}/options`, { json: { id } })
}

/** Gets options for a login and answers them. */
export async function provePasskey(
  service: Service,
  id: string,
  key: SoftAuthenticator,
  lie: Lie = {},
): Promise<Reply> {
  const options = await passkeyOptions(service, id)
  assert.equal(options.status, 200, options.text)
  const credential = key.get(options.json().publicKey, service.baseUrl, lie)
  return service.call(PASSKEY, { json: { id, credential } })
}

export async function startPasskey(service: Service, id: string) {
  const started = await service.call(`${PASSKEY}/enroll`, { json: { id } })
  assert.equal(started.status, 201, started.text)
  const { publicKey, recoveryCodes } = started.json()
  return { publicKey, recoveryCodes: recoveryCodes as readonly string[] }
}

export function verifyPasskey(service: Service, id: string, credential: unknown): Promise<Reply> {
  return service.call(`${PASSKEY}/enroll/verify`, { json: { id, credential, name: 'my key' } })
}

/** Enrolls a key inside a login, whose policy must demand one. */
export async function enrollKey(service: Service, id: string, key: SoftAuthenticator) {
  const { publicKey, recoveryCodes } = await startPasskey(service, id)
  const credential = key.create(publicKey, service.baseUrl)
  return { reply: await verifyPasskey(service, id, credential), recoveryCodes, credential }
}

/** A policy that takes every primary method, and passkeys alone, and asks for one. */
export function passkeyPolicy(admin: Administrator): Promise<string> {
  return admin.createPolicy({
    primary: { updb: { allowed: true }, passkey: { allowed: true } },
    secondary: { requirePasskey: true },
  })
}

/** An identity with a password and a passkey that it enrolled in a login, as its policy demands. */
export async function passkeyPerson(
  service: Service,
  admin: Administrator,
  identity: NewIdentity & { readonly key?: SoftAuthenticator } = {},
): Promise<PasskeyPerson> {
  const { key = softAuthenticator(), ...given } = identity
  const policy = given.policy ?? (await passkeyPolicy(admin))
  const person = await admin.createIdentity({ password: PASSWORD, ...given, policy })
  const { authRequestId } = await partialLogin(service, person)
  const { reply, recoveryCodes } = await enrollKey(service, authRequestId, key)
  assert.equal(reply.status, 302, reply.text)
  return { ...person, key, recoveryCodes }
}

/** Signs in with a passkey alone. */
export async function signIn(service: Service, key: SoftAuthenticator, lie: Lie = {}) {
  const login = await beginLogin(service, { scope: 'openid offline_access' })
  return { login, reply: await provePasskey(service, login.authRequestId, key, lie) }
}

export async function tokensOf(
  service: Service,
  { login, reply }: { login: { verifier: string }; reply: Reply },
) {
  const exchanged = await exchangeOf(service, login, reply)
  assert.equal(exchanged.status, 200, exchanged.text)
  const tokens = exchanged.json()
  return { ...tokens, claims: decodeJwt(tokens.access_token) }
}
