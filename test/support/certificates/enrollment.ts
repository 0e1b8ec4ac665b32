/** Invitations to enroll, and what their holders do with them. API 3.2, 4.3. */
import assert from 'node:assert/strict'
import type { Reply } from '../http-client.ts'
import type { Administrator } from '../management.ts'
import type { Service as RunningService } from '../service.ts'
import { type MadeCsr, makeCsr } from './csr.ts'
import { type MadeCertificate, madeCertificate } from './openssl.ts'

type Service = Pick<RunningService, 'call'>
type Fields = Readonly<Record<string, unknown>>

export const CLIENT = '/edge/client/v1'
export const PASSWORD = 'a password of my own'

export interface Invited {
  readonly identityId: string
  readonly name: string
  readonly id: string
  readonly token: string
  readonly jwt: string
  readonly link: string
  readonly expiresAt: string
}

/** A new identity with an enrollment, by `POST /identities`. */
export async function inviteNew(
  admin: Administrator,
  enrollment: Fields,
  changes: Fields = {},
): Promise<Invited> {
  count += 1
  const name = `invited-${count}`
  const identity = { name, type: 'Default', isAdmin: false, enrollment, ...changes }
  const reply = await admin.call('POST', '/identities', identity)
  assert.equal(reply.status, 201, reply.text)
  const { data } = reply.json()
  return { identityId: data.id, name, ...data.enrollment }
}

let count = 0

/** POST /enroll/ott with JSON. */
export function enrollByCsr(service: Service, token: string, clientCsr: string): Promise<Reply> {
  return service.call(`${CLIENT}/enroll/ott`, { json: { token, clientCsr } })
}

/** POST /enroll/updb with JSON. */
export function enrollByPassword(
  service: Service,
  token: string,
  credentials: { readonly username: string; readonly password: string },
): Promise<Reply> {
  return service.call(`${CLIENT}/enroll/updb?token=${token}`, { json: credentials })
}

/** The certificate that a token is exchanged for, as its holder keeps it. */
export async function enrolledCertificate(
  service: Service,
  token: string,
  csr?: MadeCsr,
): Promise<MadeCertificate & { readonly ca: string }> {
  const { pem, keyPem } = csr ?? (await makeCsr())
  const reply = await enrollByCsr(service, token, pem)
  assert.equal(reply.status, 200, reply.text)
  const { cert, ca } = reply.json().data
  return { ...madeCertificate(cert, keyPem), ca }
}
