/**
 * What changes when a CA is verified or removed, and when the certificate of somebody is taken away: at once on the
 * instance where it happens, within a second on every other. API 3.3, 4.6; D-21, D-34; R095.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import { failureOf } from '../../support/audit.ts'
import {
  certificateLogin,
  logInByCertificate,
  presenting,
  proofOf,
  registerCa,
  submitCertificate,
} from '../../support/certificates/certificate-login.ts'
import { namedCas } from '../../support/certificates/named-cas.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { TestClock } from '../../support/clocks/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { answerTo, IDENTITY, INVALID, NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import { ztSession } from '../../support/login/legacy.ts'
import { answerOf, beginLogin, exchange, REDIRECT_URI } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

/** The other instance is asked again and again. */
const WITHOUT_LIMIT = { edge: { limits: { failuresPerAddress: 0 } } }

const portOf = (service: Service) => Number(new URL(service.baseUrl).port)

/** The reason why the login is refused, or `taken`. */
async function outcome(service: Service, client: Service): Promise<string | null> {
  const reply = await certificateLogin(client)
  if (reply.status === 302) return 'taken'
  assert.equal(reply.json().error.code, 'INVALID_AUTH')
  return (await failureOf(service, reply)).reason
}

test('a CA from its registration to its removal', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ca = await makeCa({ subject: '/O=Partner/CN=Partner CA' })
  const leaf = await makeLeaf(ca)
  await admin.createIdentity({ certPem: leaf.pem })
  const client = presenting(service, leaf)
  const ours = await namedCas(portOf(service))
  const withTheirs = [...ours, 'O=Partner, CN=Partner CA']

  assert.equal(await outcome(service, client), 'certificate-untrusted')
  const id = await admin.createCa({ certPem: ca.pem })

  await t.test('R095: until it is verified it is neither trusted nor named', async () => {
    assert.equal(await outcome(service, client), 'ca-unverified')
    assert.deepEqual(await namedCas(portOf(service)), ours)
    const wrong = await makeLeaf(ca, { subject: '/CN=not the token' })
    assertRefused(await admin.verifyCa(id, wrong.pem), 400, 'INVALID_COMMON_NAME')
    const { verificationToken } = await admin.get(`/cas/${id}`)
    const forged = await makeLeaf(await makeCa({ subject: ca.subject }), {
      subject: `/CN=${verificationToken}`,
    })
    assertRefused(await admin.verifyCa(id, forged.pem), 400, 'CERT_FAILED_VALIDATION')
    assert.equal(await outcome(service, client), 'ca-unverified')
  })

  const proof = await proofOf(admin, openssl, id, ca)
  await t.test('API 3.3: once it is verified it is trusted and named, at once', async () => {
    const verified = await admin.verifyCa(id, proof)
    assert.equal(verified.status, 200, verified.text)
    assert.equal(await outcome(service, client), 'taken')
    assert.deepEqual(await namedCas(portOf(service)), withTheirs)
    assertRefused(await admin.verifyCa(id, proof), 409, 'CA_ALREADY_VERIFIED')
  })

  await t.test('R095: once it is removed no certificate of it logs in', async () => {
    const { access_token } = await logInByCertificate(client)
    await admin.act('DELETE', `/cas/${id}`)
    assert.equal(await outcome(service, client), 'certificate-untrusted')
    assert.deepEqual(await namedCas(portOf(service)), ours)
    // D-232: nor does a token of a login with one count any more.
    assert.equal(await answerTo(service, access_token), INVALID)
  })

  await t.test('a CA that comes back has to prove its key again', async () => {
    const again = await admin.createCa({ certPem: ca.pem })
    assert.equal(await outcome(service, client), 'ca-unverified')
    assertRefused(await admin.verifyCa(again, proof), 400, 'INVALID_COMMON_NAME')
    const fresh = await admin.verifyCa(again, await proofOf(admin, openssl, again, ca))
    assert.equal(fresh.status, 200, fresh.text)
    assert.equal(await outcome(service, client), 'taken')
  })

  await t.test('a verified CA that is not enabled is not named', async () => {
    const off = await makeCa({ subject: '/CN=Off' })
    await registerCa(admin, openssl, off, { isAuthEnabled: false })
    assert.deepEqual(await namedCas(portOf(service)), withTheirs)
  })
})

test('R095: the certificate of an identity is removed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ca = await makeCa({ subject: '/O=Partner/CN=Partner CA' })
  await registerCa(admin, openssl, ca)

  async function somebody() {
    const leaf = await makeLeaf(ca)
    const { id } = await admin.createIdentity()
    const authenticator = { method: 'cert', identityId: id, certPem: leaf.pem }
    const authenticatorId = await admin.create('/authenticators', authenticator)
    const client = presenting(service, leaf)
    const remove = () => admin.act('DELETE', `/authenticators/${authenticatorId}`)
    return { id, leaf, client, remove }
  }

  await t.test(
    'it no longer logs in, and what it began ends, for both kinds of session',
    async () => {
      const one = await somebody()
      const other = await somebody()
      const { access_token } = await logInByCertificate(one.client)
      const theirs = await logInByCertificate(other.client)
      const legacy = await one.client.call('/edge/client/v1/authenticate', { method: 'POST' })
      const { token } = legacy.json().data
      assert.equal(await answerTo(service, access_token), 'taken')
      assert.equal((await service.call(IDENTITY, ztSession(token))).status, 200)

      await one.remove()
      assert.equal(await outcome(service, one.client), 'certificate-unknown')
      assert.equal(await answerTo(service, access_token), INVALID)
      const refused = await service.call(IDENTITY, ztSession(token))
      assert.equal(refused.status, 401)
      assert.equal(refused.headers['www-authenticate'], NO_SUCH_SESSION)
      assert.equal(await answerTo(service, theirs.access_token), 'taken', 'nobody else is harmed')
    },
  )

  await t.test('a code that was issued for it is not accepted', async () => {
    const { client, remove } = await somebody()
    const { authRequestId, verifier } = await beginLogin(client)
    const code = answerOf(await submitCertificate(client, authRequestId)).get('code') ?? ''
    await remove()
    const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
    const reply = await exchange(service, form)
    assert.equal(reply.status, 400, reply.text)
    assert.equal(reply.json().error, 'invalid_grant')
  })

  await t.test(
    'another identity may get it, and is the one that it names from then on',
    async () => {
      const { leaf, client, remove } = await somebody()
      await remove()
      const { id } = await admin.createIdentity({ certPem: leaf.pem })
      assert.equal(decodeJwt((await logInByCertificate(client)).access_token).sub, id)
    },
  )

  await t.test('an identity that is deleted takes its certificate along', async () => {
    const { id, client } = await somebody()
    const { access_token } = await logInByCertificate(client)
    await admin.act('DELETE', `/identities/${id}`)
    assert.equal(await outcome(service, client), 'certificate-unknown')
    assert.equal(await answerTo(service, access_token), INVALID)
  })
})

test('D-34: a CA that one instance verifies or removes is soon trusted or refused by the other', async (t: TestContext) => {
  const shared = await installation(await migratedDatabase())
  const options = { clock: new TestClock(), config: WITHOUT_LIMIT }
  const [a, b] = await Promise.all([shared.start(t, options), shared.start(t, options)])
  const port = b.config.listeners[0].bindPoints[0].interface.port
  const admin = await administrate(a)
  const ca = await makeCa({ subject: '/O=Partner/CN=Partner CA' })
  const leaf = await makeLeaf(ca)
  await admin.createIdentity({ certPem: leaf.pem })
  const [atA, atB] = [presenting(a, leaf), presenting(b, leaf)]

  /** D-34. */
  const soon = (expected: string) =>
    eventually(async () => (await outcome(b, atB)) === expected || undefined, expected)

  const id = await registerCa(admin, openssl, ca)
  assert.equal(await outcome(a, atA), 'taken', 'at once where it was verified')
  await soon('taken')
  assert.ok((await namedCas(port)).includes('O=Partner, CN=Partner CA'))
  await admin.act('DELETE', `/cas/${id}`)
  assert.equal(await outcome(a, atA), 'certificate-untrusted')
  await soon('certificate-untrusted')
  assert.equal((await namedCas(port)).includes('O=Partner, CN=Partner CA'), false)
})
