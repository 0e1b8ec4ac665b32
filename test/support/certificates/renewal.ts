/**
 * Somebody with a certificate of the service's own PKI, as an enrollment leaves it behind, and what he does to renew
 * it. The certificate is made by an independent hand.
 */
import assert from 'node:assert/strict'
import { decodeJwt } from 'jose'
import type { Reply } from '../http-client.ts'
import { bearer } from '../login/login.ts'
import type { Administrator } from '../management.ts'
import type { Service } from '../service.ts'
import { logInByCertificate, presenting } from './certificate-login.ts'
import { makeCsr } from './csr.ts'
import { LEAF_EXTENSIONS, type MadeCertificate, madeCertificate, type Openssl } from './openssl.ts'
import { ownIssuingCa } from './own-pki.ts'

export const CLIENT = '/edge/client/v1'

export interface Enrolled {
  readonly identityId: string
  readonly authenticatorId: string
  readonly certificate: MadeCertificate
}

export async function enrolledPerson(
  service: Service,
  admin: Administrator,
  openssl: Openssl,
  wanted: { readonly policy?: string; readonly life?: Parameters<Openssl['makeLeaf']>[1] } = {},
): Promise<Enrolled> {
  const { policy, life = {} } = wanted
  const { id } = await admin.createIdentity(policy === undefined ? {} : { policy })
  const certificate = await openssl.makeLeaf(await ownIssuingCa(service), {
    subject: '/CN=device',
    extensions: [...LEAF_EXTENSIONS, `subjectAltName=URI:spiffe://latchkey/identity/${id}`],
    ...life,
  })
  const authenticatorId = await admin.create('/authenticators', {
    method: 'cert',
    identityId: id,
    certPem: certificate.pem,
  })
  return { identityId: id, authenticatorId, certificate }
}

/** A call with this token, over a connection that shows what the service is called with. */
const renewalCall =
  (action: 'extend' | 'extend-verify') =>
  (
    service: Pick<Service, 'call'>,
    token: string,
    authenticatorId: string,
    json: unknown,
    api = CLIENT,
  ): Promise<Reply> =>
    service.call(`${api}/current-identity/authenticators/${authenticatorId}/${action}`, {
      ...bearer(token),
      json,
    })

export const extend = renewalCall('extend')
export const extendVerify = renewalCall('extend-verify')

/** A whole `extend`: the new certificate with its key, not confirmed yet. */
export async function renewal(
  service: Service,
  token: string,
  { authenticatorId, certificate }: Pick<Enrolled, 'authenticatorId' | 'certificate'>,
  api = CLIENT,
): Promise<MadeCertificate & { readonly ca: string }> {
  const csr = await makeCsr()
  const shown = presenting(service, certificate)
  const reply = await extend(shown, token, authenticatorId, { clientCertCsr: csr.pem }, api)
  assert.equal(reply.status, 200, reply.text)
  const { clientCert, ca } = reply.json().data
  return { ...madeCertificate(clientCert, csr.keyPem), ca }
}

/** Whose certificate it is, by a whole login. */
export async function whoLogsIn(service: Service, certificate: MadeCertificate) {
  const { access_token } = await logInByCertificate(presenting(service, certificate))
  return decodeJwt(access_token).sub
}
