/**
 * What an administrator does for a new edge router: an identity of type `Router` with a certificate of a verified
 * third-party CA, as the file that `latchkey gateway` reads. The certificate is for its listener too.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { registerCa } from '../certificates/certificate-login.ts'
import { makeCsr } from '../certificates/csr.ts'
import { LEAF_EXTENSIONS, type MadeCertificate, openOpenssl } from '../certificates/openssl.ts'
import { type Administrator, administrate } from '../management.ts'
import { type Service as RunningService, temporaryFolder } from '../service.ts'

export interface RouterFile {
  readonly id: string
  readonly cert: string
  readonly key: string
  /** What the router trusts its controller by. */
  readonly ca: string
}

export interface NewRouter {
  readonly admin: Administrator
  readonly identity: RouterFile
  readonly certificate: MadeCertificate
  /** What clients of the gateway trust it by. */
  readonly gatewayCa: string
}

export async function makeRouter(
  t: Pick<TestContext, 'after'>,
  service: Pick<RunningService, 'baseUrl' | 'call' | 'ca'>,
  type = 'Router',
): Promise<NewRouter> {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa({ subject: '/CN=CA of the routers' })
  const certificate = await openssl.makeLeaf(ca, {
    subject: '/CN=router',
    extensions: [
      ...LEAF_EXTENSIONS.filter((line) => !line.startsWith('extendedKeyUsage')),
      'extendedKeyUsage=serverAuth,clientAuth',
      'subjectAltName=DNS:localhost,IP:127.0.0.1',
    ],
  })
  const admin = await administrate(service)
  await registerCa(admin, openssl, ca)
  const { id } = await admin.createIdentity({ name: 'router-1', type, certPem: certificate.pem })
  const identity = { id, cert: certificate.pem, key: certificate.keyPem, ca: service.ca }
  return { admin, identity, certificate, gatewayCa: ca.pem }
}

/** A router as `latchkey create router` makes one: enrolled at the network's own CA, for these hosts. */
export async function enrollRouter(
  service: Pick<RunningService, 'baseUrl' | 'call' | 'ca'>,
  name = 'gw1',
  hosts: readonly string[] = ['localhost'],
): Promise<Omit<NewRouter, 'certificate'>> {
  const admin = await administrate(service)
  const wanted = { name, type: 'Router', isAdmin: false, hosts, enrollment: { ott: true } }
  const reply = await admin.call('POST', '/identities', wanted)
  assert.equal(reply.status, 201, reply.text)
  const { id, enrollment } = reply.json().data
  const { pem, keyPem } = await makeCsr()
  const enrolled = await service.call('/edge/client/v1/enroll/ott', {
    method: 'POST',
    json: { token: enrollment.token, clientCsr: pem },
  })
  assert.equal(enrolled.status, 200, enrolled.text)
  const { cert } = enrolled.json().data
  const identity = { id, cert, key: keyPem, ca: service.ca }
  return { admin, identity, gatewayCa: service.ca }
}

/** The path of an identity file, in a folder that is gone after the test. */
export async function writeIdentity(
  t: TestContext,
  content: unknown,
  mode = 0o600,
): Promise<string> {
  const path = join(await temporaryFolder(t), 'router.json')
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  await writeFile(path, text, { mode })
  return path
}
