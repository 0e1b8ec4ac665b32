/**
 * Everything that began with a certificate continues while that certificate could log in: until it expires, is removed
 * or is replaced. A renewal moves its sessions to the new one. D-26, D-117, D-122, D-130, D-225, D-227; R047, R093.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, test } from 'node:test'
import { days, milliseconds, minutes, seconds } from '../../../src/base/time/duration.ts'
import { presenting, registerCa } from '../../support/certificates/certificate-login.ts'
import { type MadeCertificate, openOpenssl } from '../../support/certificates/openssl.ts'
import { enrolledPerson, extendVerify, renewal } from '../../support/certificates/renewal.ts'
import {
  assertBackAgain,
  assertNoSession,
  assertWithdrawn,
  type Begun,
  beginAll,
  byCertificate,
  refusalOf,
  tokensBy,
  ztTokenBy,
} from '../../support/login/begun.ts'
import { answerTo, IDENTITY, INVALID } from '../../support/login/challenges.ts'
import { ztSession } from '../../support/login/legacy.ts'
import { assertRefreshRefused, eventsOf, refresh } from '../../support/login/refresh.ts'
import { type Administrator, administrate } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

const SOON = { notAfter: minutes(20) }

async function world(t: Parameters<typeof startService>[0]) {
  const service = await startService(t)
  return { service, admin: await administrate(service) }
}

/** This many seconds before its expiry; the clock stands still, so that the duration of a login does not matter. */
function moveToEndOf({ clock }: Service, { pem }: MadeCertificate, before = seconds(20)): void {
  clock.hold()
  const left = new X509Certificate(pem).validToDate.getTime() - clock.now()
  clock.advance(milliseconds(left - before))
}

/** Begins everything just before the certificate expires, and waits until it has expired. A code lives for a minute. */
async function outlive(service: Service, ending: MadeCertificate, leaf = ending): Promise<Begun> {
  moveToEndOf(service, ending)
  const begun = await beginAll(service, byCertificate(service, leaf))
  service.clock.advance(seconds(40))
  return begun
}

async function partnerLeaf(
  admin: Administrator,
  life: Parameters<typeof makeLeaf>[1],
  policy?: string,
) {
  const ca = await makeCa({ notAfter: days(30) })
  await registerCa(admin, openssl, ca)
  const leaf = await makeLeaf(ca, life)
  await admin.createIdentity({ certPem: leaf.pem, ...(policy === undefined ? {} : { policy }) })
  return leaf
}

test('D-227: what began with a certificate of a third-party CA ends when the certificate expires', async (t) => {
  const { service, admin } = await world(t)
  const begun = await outlive(service, await partnerLeaf(admin, SOON))
  await assertWithdrawn(service, begun, 'certificate-expired')
})

test('D-227: what began with a certificate of our own PKI ends when the certificate expires', async (t) => {
  const { service, admin } = await world(t)
  const { certificate } = await enrolledPerson(service, admin, openssl, { life: SOON })
  const begun = await outlive(service, certificate)
  await assertWithdrawn(service, begun, 'certificate-expired')
})

test('D-227: a policy that lets expired certificates log in lets their sessions continue', async (t) => {
  const { service, admin } = await world(t)
  const cert = { allowed: true, allowExpiredCerts: true }
  const policy = await admin.createPolicy({ primary: { cert } })
  const begun = await outlive(service, await partnerLeaf(admin, SOON, policy))
  await assertBackAgain(service, begun)
  await admin.act('PATCH', `/auth-policies/${policy}`, {
    primary: { cert: { allowExpiredCerts: false } },
  })
  assertNoSession(await service.call(IDENTITY, ztSession(begun.zt)))
})

test('D-227: no policy accepts an expired CA', async (t) => {
  const { service, admin } = await world(t)
  const cert = { allowed: true, allowExpiredCerts: true }
  const policy = await admin.createPolicy({ primary: { cert } })
  const ca = await makeCa(SOON)
  await registerCa(admin, openssl, ca)
  const leaf = await makeLeaf(ca)
  await admin.createIdentity({ certPem: leaf.pem, policy })
  const begun = await outlive(service, ca, leaf)
  await assertWithdrawn(service, begun, 'certificate-untrusted')
})

test('D-130: a renewal moves what was begun to the new certificate, and the expiry of the old one ends nothing', async (t) => {
  const { service, admin } = await world(t)
  const device = await enrolledPerson(service, admin, openssl, { life: SOON })
  const way = byCertificate(service, device.certificate)
  const zt = await ztTokenBy(way)
  const tokens = await tokensBy(service, way)
  const next = await renewal(service, tokens.access_token, device)
  const verified = await extendVerify(
    presenting(service, next),
    tokens.access_token,
    device.authenticatorId,
    { clientCert: next.pem },
  )
  assert.equal(verified.status, 200, verified.text)
  moveToEndOf(service, device.certificate, seconds(-1))
  const code = { code: '', code_verifier: '', redirect_uri: '' }
  await assertBackAgain(service, { tokens, zt, code })
})

test('D-227: replacing a pending renewal certificate ends what it began', async (t) => {
  const { service, admin } = await world(t)
  const device = await enrolledPerson(service, admin, openssl)
  const { access_token } = await tokensBy(service, byCertificate(service, device.certificate))
  const waiting = byCertificate(service, await renewal(service, access_token, device))
  const begun = await beginAll(service, waiting)
  const ours = await beginAll(service, byCertificate(service, device.certificate))
  const another = await renewal(service, access_token, device)

  assertRefreshRefused(await refresh(service, begun.tokens.refresh_token))
  assertNoSession(await service.call(IDENTITY, ztSession(begun.zt)))
  assert.equal(await answerTo(service, begun.tokens.access_token), INVALID)
  const id = String(JSON.parse(atob(begun.tokens.access_token.split('.')[1] ?? ''))['z_asid'])
  assert.ok((await eventsOf(service, id)).includes('session.ended: certificate-replaced'))
  await assertBackAgain(service, ours)
  await beginAll(service, byCertificate(service, another))
})

test('D-227: a refresh checks that the certificate is still the registered one', async (t) => {
  const { service, admin } = await world(t)
  const { certificate, authenticatorId } = await enrolledPerson(service, admin, openssl)
  const { refresh_token } = await tokensBy(service, byCertificate(service, certificate))
  const set = (fingerprint: string) =>
    sql(
      service,
      `update authenticators set fingerprint = '${fingerprint}' where id = '${authenticatorId}'`,
    )
  await set('f'.repeat(64))
  const refused = await refresh(service, refresh_token)
  assertRefreshRefused(refused)
  assert.equal(await refusalOf(service, refused), 'authenticator-removed')
  await set(certificate.fingerprint)
  assert.equal((await refresh(service, refresh_token)).status, 200)
})

/** The state of sessions from before the expiry and the CA of a certificate were stored with them. */
async function forgetFields(service: Service): Promise<void> {
  const rows = await sql(service, 'select id, proof from api_sessions')
  for (const { id, proof } of rows) {
    const { primary, ...rest } = JSON.parse(String(proof))
    const { notAfter, trust, ...certificate } = primary.certificate ?? {}
    const { voidedLogins, ...former } = primary
    const kept = primary.certificate === undefined ? former : { ...former, certificate }
    const text = JSON.stringify({ ...rest, primary: kept })
    await sql(service, `update api_sessions set proof = '${text}' where id = '${id}'`)
  }
}

test('D-225: older sessions continue with the registered certificate, and end with its CA', async (t) => {
  const { service, admin } = await world(t)
  const ca = await makeCa({ notAfter: days(30) })
  const id = await registerCa(admin, openssl, ca)
  const leaf = await makeLeaf(ca)
  await admin.createIdentity({ certPem: leaf.pem })
  const { certificate } = await enrolledPerson(service, admin, openssl, { life: SOON })
  const theirs = await beginAll(service, byCertificate(service, leaf))
  const ours = await beginAll(service, byCertificate(service, certificate))
  await forgetFields(service)
  await assertBackAgain(service, theirs)
  await assertBackAgain(service, ours)
  const again = await beginAll(service, byCertificate(service, leaf))
  await forgetFields(service)
  await admin.act('PATCH', `/cas/${id}`, { isAuthEnabled: false })
  await assertWithdrawn(service, again, 'ca-disabled')
  moveToEndOf(service, certificate, seconds(-1))
  assertNoSession(await service.call(IDENTITY, ztSession(ours.zt)))
})
