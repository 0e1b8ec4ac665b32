/**
 * Somebody with a client certificate: the same service, called over connections that show it, and the steps of a
 * certificate login. And what an administrator does so that the certificates of a CA count.
 */
import assert from 'node:assert/strict'
import https from 'node:https'
import type { CallOptions, Reply } from '../http-client.ts'
import { beginLogin, exchangeOf, type Tokens } from '../login/login.ts'
import type { Administrator } from '../management.ts'
import type { Service as RunningService } from '../service.ts'
import type { MadeCertificate, Openssl } from './openssl.ts'

type Service = Pick<RunningService, 'baseUrl' | 'call'>

/** What a client shows that has the key of the first one: the certificates as they are sent. */
export const shows = (leaf: MadeCertificate, ...others: readonly MadeCertificate[]) => ({
  cert: [leaf, ...others].map(({ pem }) => pem).join(''),
  key: leaf.keyPem,
})

/** The same service, called with the certificate; a connection of its own for every call. */
export function presenting<S extends Service>(
  service: S,
  leaf: MadeCertificate,
  ...others: readonly MadeCertificate[]
): S {
  const agent = new https.Agent({ ...shows(leaf, ...others), keepAlive: false })
  const call = (path: string, options: CallOptions = {}) =>
    service.call(path, { agent, ...options })
  return { ...service, call }
}

/** POST /oidc/login/cert, with whatever certificate the service is called with. */
export function submitCertificate(service: Service, authRequestId: string): Promise<Reply> {
  return service.call('/oidc/login/cert', { json: { authRequestId } })
}

/** A login up to the answer of the certificate login. */
export async function certificateLogin(service: Service): Promise<Reply> {
  return submitCertificate(service, (await beginLogin(service)).authRequestId)
}

/** A whole login, where nothing but the certificate is asked for. */
export async function logInByCertificate(
  service: Service,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<Tokens> {
  const login = await beginLogin(service, changes)
  const proven = await submitCertificate(service, login.authRequestId)
  const reply = await exchangeOf(service, login, proven)
  assert.equal(reply.status, 200, reply.text)
  return reply.json()
}

/** The certificate that proves possession of the key of a registered CA (API 3.3). */
export async function proofOf(
  admin: Pick<Administrator, 'get'>,
  openssl: Openssl,
  id: string,
  ca: MadeCertificate,
): Promise<string> {
  const { verificationToken } = await admin.get(`/cas/${id}`)
  return (await openssl.makeLeaf(ca, { subject: `/CN=${verificationToken}` })).pem
}

/** Registers a CA, enabled for authentication unless told otherwise, and verifies it. Its id. */
export async function registerCa(
  admin: Administrator,
  openssl: Openssl,
  ca: MadeCertificate,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const id = await admin.createCa({ ...changes, certPem: ca.pem })
  const verified = await admin.verifyCa(id, await proofOf(admin, openssl, id, ca))
  assert.equal(verified.status, 200, verified.text)
  return id
}
