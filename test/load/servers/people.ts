/** Fills a running Latchkey over its APIs with what the operations of the bench need. */
import { randomBytes } from 'node:crypto'
import { makeCsr, runOpenssl } from '../../support/certificates/csr.ts'
import { type ClientCertificate, type Connection, openConnection } from '../generator/connection.ts'
import { expect, logIn, type Signer } from '../generator/login.ts'
import { ADMIN_PASSWORD, type Home, type Latchkey, startLatchkey } from './latchkey.ts'

/** A Latchkey with somebody who can log in in every way. */
export interface Filled extends Latchkey {
  readonly password: { readonly username: string; readonly password: string }
  readonly certificate: ClientCertificate
  readonly signer: Signer
  /** The external id that the signer's JWTs name. */
  readonly externalId: string
  /** A request for a session certificate, in PEM. */
  readonly csr: string
}

const SIGNER = { issuer: 'https://idp.example', audience: 'bench', kid: 'bench' }

/** Starts a home once, which creates what is in it, changes it while nothing runs, and starts and fills it. */
export async function startChanged(home: Home, change: () => Promise<void>): Promise<Filled> {
  await (await startLatchkey(home)).stop()
  await change()
  const latchkey = await startLatchkey(home)
  return fill(latchkey).catch(async (error) => {
    await latchkey.stop()
    throw error
  })
}

export async function fill(latchkey: Latchkey): Promise<Filled> {
  const connection = await openConnection(latchkey)
  try {
    const admin = { method: 'username', username: 'admin', password: ADMIN_PASSWORD } as const
    const { access } = await logIn(connection, admin)
    const create = async (path: string, body: object) => {
      const answer = await expect(connection, 201, {
        method: 'POST',
        path: `/edge/management/v1${path}`,
        headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return JSON.parse(answer.body).data
    }
    const externalId = 'bench-person'
    const person = { name: externalId, type: 'Default', isAdmin: false, externalId }
    const { id: identityId } = await create('/identities', person)
    const password = { username: 'bench', password: `of nobody ${randomBytes(6).toString('hex')}` }
    await create('/authenticators', { method: 'updb', identityId, ...password })
    const machine = { name: 'machine', type: 'Default', isAdmin: false, enrollment: { ott: true } }
    const { enrollment } = await create('/identities', machine)
    const signer = await selfSigned('idp.example')
    await create('/external-jwt-signers', {
      ...SIGNER,
      name: 'bench-idp',
      enabled: true,
      certPem: signer.certPem,
      claimsProperty: 'sub',
      useExternalId: true,
      externalAuthUrl: SIGNER.issuer,
    })
    return {
      ...latchkey,
      password,
      certificate: await enroll(connection, enrollment.token),
      signer: { ...SIGNER, keyPem: signer.keyPem },
      externalId,
      csr: (await makeCsr()).pem,
    }
  } finally {
    connection.close()
  }
}

async function enroll(connection: Connection, token: string): Promise<ClientCertificate> {
  const { pem, keyPem } = await makeCsr()
  const answer = await expect(connection, 200, {
    method: 'POST',
    path: `/edge/client/v1/enroll?method=ott&token=${token}`,
    headers: { 'content-type': 'application/x-pem-file' },
    body: pem,
  })
  return { cert: JSON.parse(answer.body).data.cert, key: keyPem }
}

/** A key and its own certificate for a host name. */
export async function selfSigned(
  host: string,
): Promise<{ readonly keyPem: string; readonly certPem: string }> {
  const { keyPem } = await makeCsr()
  const options = ['-new', '-x509', '-days', '2', '-subj', `/CN=${host}`]
  const names = ['-addext', `subjectAltName=DNS:${host}`]
  const files = { key: keyPem }
  const { out } = await runOpenssl(
    ['req', ...options, ...names, '-key', 'key', '-out', 'out'],
    files,
  )
  return { keyPem, certPem: out }
}
