/**
 * A session certificate opens a router beside a token, and nothing by itself: it is no login credential, and it names
 * no caller. D-21, D-42, R102.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { failureOf } from '../../support/audit.ts'
import { certificateLogin, presenting } from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { madeCertificate } from '../../support/certificates/openssl.ts'
import { CERTIFICATES, issueCertificate, oidcSession } from '../../support/edge/live-session.ts'
import { MISSING } from '../../support/login/challenges.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

/** The certificate of a session of this person, with its key, as a client would show it. */
async function shown(t: TestContext, type: 'Default' | 'Router' = 'Default') {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: 'a password of somebody', type })
  const session = await oidcSession(service, person)
  const { pem: csr, keyPem } = await makeCsr()
  const { certificate } = await issueCertificate(session, csr)
  const leaf = madeCertificate(certificate, keyPem)
  return { service, admin, person, session, leaf, caller: presenting(service, leaf) }
}

test('D-21: it is refused as a login credential, by both kinds of login, and the log says why', async (t) => {
  const { service, caller } = await shown(t)
  for (const reply of [
    await certificateLogin(caller),
    await caller.call(`${CLIENT_API}/authenticate?method=cert`, { method: 'POST' }),
  ]) {
    assertRefused(reply, 401, 'INVALID_AUTH')
    assert.equal((await failureOf(service, reply)).reason, 'certificate-of-session')
  }
})

test('D-21: also where its fingerprint is enrolled', async (t) => {
  // Attack: somebody registers the short-lived certificate of a session as his authenticator.
  const { service, admin, person, leaf, caller } = await shown(t)
  const reply = await admin.call('POST', '/authenticators', {
    method: 'cert',
    identityId: person.id,
    certPem: leaf.pem,
  })
  // Whether it can be stored or not, it opens nothing.
  assert.ok([201, 400].includes(reply.status), reply.text)
  const login = await certificateLogin(caller)
  assertRefused(login, 401, 'INVALID_AUTH')
  assert.equal((await failureOf(service, login)).reason, 'certificate-of-session')
})

test('R102: without a token the certificate proves nothing, and with a token it changes nothing', async (t) => {
  const { caller, session } = await shown(t)
  const alone = await caller.call(CERTIFICATES)
  assertRefused(alone, 401, 'UNAUTHORIZED')
  assert.equal(alone.headers['www-authenticate'], MISSING)
  const beside = await session.call(CERTIFICATES, {}, caller)
  assert.equal(beside.status, 200, beside.text)
})

test('D-42: that of a session of a router identity does not open what is for routers', async (t) => {
  const { service, caller } = await shown(t, 'Router')
  for (const reply of [
    await caller.call(`${CLIENT_API}/router-checks`, { json: { ztSession: 'x' } }),
    await caller.call(`${CLIENT_API}/router-feed`),
  ]) {
    assertRefused(reply, 401, 'INVALID_AUTH')
    assert.equal((await failureOf(service, reply)).reason, 'certificate-of-session')
  }
})
