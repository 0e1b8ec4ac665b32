/** Passwords and certificates of identities: made, read, unlocked, removed. API 3.3, 4.2; D-22, D-34. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DoneReply } from '../../../src/contract/envelope.ts'
import { AuthenticatorReply } from '../../../src/contract/management/authenticators.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

const LOWER_CASE_SHA256 = /^[0-9a-f]{64}$/

async function statusOfLogin(service: Service, username: string, password: string) {
  const { authRequestId } = await beginLogin(service)
  return (await submitPassword(service, authRequestId, { username, password })).status
}

test('authenticators', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const ca = await tool.makeCa()
  const updb = (identityId: string, username: string, password = PASSWORD) =>
    admin.call('POST', '/authenticators', { method: 'updb', identityId, username, password })
  const cert = (identityId: string, certPem: string) =>
    admin.call('POST', '/authenticators', { method: 'cert', identityId, certPem })

  await t.test('API 4.2: a password is made, and read back without its hash', async () => {
    const { id: identityId, name } = await admin.createIdentity()
    const made = await admin.call('POST', '/authenticators', {
      method: 'updb',
      identityId,
      username: 'Zoë',
      password: PASSWORD,
      tags: { by: 'hand' },
    })
    assert.equal(made.status, 201, made.text)
    const { id, _links } = made.json().data
    assert.equal(_links.self.href, `./authenticators/${id}`)

    const reply = await admin.call('GET', `/authenticators/${id}`)
    const body = reply.json()
    assert.deepEqual(AuthenticatorReply.parse(body), body)
    assert.equal(body.data.username, 'Zoë')
    assert.equal(body.data.lockedUntil, null)
    assert.equal(body.data.identityId, identityId)
    assert.equal(body.data.identity.name, name)
    assert.deepEqual(body.data.tags, { by: 'hand' })
    const lists = [
      reply,
      await admin.call('GET', '/authenticators'),
      await admin.call('GET', `/identities/${identityId}/authenticators`),
    ]
    for (const { text } of lists) assert.ok(!/argon2|hash/i.test(text), text)
    assert.equal(await statusOfLogin(service, 'zoë', PASSWORD), 302)
  })

  await t.test('API 4.2: a certificate is made, in our form and with its fingerprint', async () => {
    const { id: identityId } = await admin.createIdentity()
    const leaf = await tool.makeLeaf(ca)
    // As openssl writes it with its words around it.
    const made = await cert(identityId, `Certificate:\n    Data:\n${leaf.pem}\n\n`)
    assert.equal(made.status, 201, made.text)
    const body = (await admin.call('GET', `/authenticators/${made.json().data.id}`)).json()
    assert.deepEqual(AuthenticatorReply.parse(body), body)
    assert.equal(body.data.method, 'cert')
    assert.match(body.data.fingerprint, LOWER_CASE_SHA256)
    assert.equal(body.data.fingerprint, leaf.fingerprint)
    assert.equal(body.data.certPem.trim(), leaf.pem.trim())
    assert.equal(body.data.isIssuedByNetwork, false)
    const { authenticators } = await admin.get(`/identities/${identityId}`)
    assert.deepEqual(authenticators.cert, { id: body.data.id, fingerprint: leaf.fingerprint })
  })

  await t.test('what is not one certificate is refused', async () => {
    const { id } = await admin.createIdentity()
    const leaf = await tool.makeLeaf(ca)
    const broken = leaf.pem.replace(/[A-Za-z0-9]{20}/, 'A'.repeat(20))
    for (const pem of ['x', leaf.keyPem, leaf.pem + ca.pem, leaf.keyPem + leaf.pem, broken]) {
      assertRefused(await cert(id, pem), 400, 'INVALID_CERT_PEM')
    }
    const weak = await tool.makeLeaf(ca, { key: 'rsa-1024' })
    assertRefused(await cert(id, weak.pem), 400, 'INVALID_CERT_PEM')
  })

  await t.test('an identity has one of each method', async () => {
    const { id, username } = await admin.createIdentity({ password: PASSWORD })
    assertRefused(await updb(id, `${username}-2`), 409, 'MAX_AUTHENTICATOR_METHODS_REACHED')
    const [first, second] = [await tool.makeLeaf(ca), await tool.makeLeaf(ca)]
    assert.equal((await cert(id, first.pem)).status, 201)
    assertRefused(await cert(id, second.pem), 409, 'MAX_AUTHENTICATOR_METHODS_REACHED')
    assert.equal((await admin.get(`/identities/${id}/authenticators`)).length, 2)
  })

  await t.test(
    'usernames are unique after folding, certificates by their fingerprint',
    async () => {
      const [one, other] = [await admin.createIdentity(), await admin.createIdentity()]
      assert.equal((await updb(one.id, 'straße')).status, 201)
      for (const username of ['straße', 'STRASSE', 'ＳＴＲＡＳＳＥ']) {
        assertRefused(await updb(other.id, username), 409, 'ENTITY_NAME_IN_USE', 'username')
      }
      const { pem } = await tool.makeLeaf(ca)
      assert.equal((await cert(one.id, pem)).status, 201)
      assertRefused(await cert(other.id, pem), 409, 'CERT_IN_USE')
    },
  )

  await t.test('of two of one username at once one is made', async () => {
    const people = [await admin.createIdentity(), await admin.createIdentity()]
    const replies = await Promise.all(people.map(({ id }) => updb(id, 'both')))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, 409])
  })

  await t.test('of two for one identity at once one is made', async () => {
    const { id } = await admin.createIdentity()
    const replies = await Promise.all([updb(id, 'left'), updb(id, 'right')])
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, 409])
    const refused = replies.find(({ status }) => status === 409)
    assert.equal(refused?.json().error.code, 'MAX_AUTHENTICATOR_METHODS_REACHED')
  })

  await t.test('R073: a password is as long as the policy of its identity wants it', async () => {
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true, minPasswordLength: 15 } },
    })
    const strict = await admin.createIdentity({ policy })
    assertRefused(
      await updb(strict.id, 'strict', 'x'.repeat(14)),
      400,
      'COULD_NOT_VALIDATE',
      'password',
    )
    assert.equal((await updb(strict.id, 'strict', 'x'.repeat(15))).status, 201)

    const plain = await admin.createIdentity()
    for (const password of ['', '1234567', 'x'.repeat(129), 'ﬃ'.repeat(43), 'x'.repeat(1025)]) {
      const reply = await updb(plain.id, 'plain', password)
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'password')
    }
    assert.equal((await updb(plain.id, 'plain', '🔑'.repeat(128))).status, 201)
    assert.equal(await statusOfLogin(service, 'plain', '🔑'.repeat(128)), 302)
  })

  await t.test('R074: an easily guessed password is refused with the reason', async () => {
    const plain = await admin.createIdentity({ name: 'Wilgefortis' })
    for (const password of ['password', 'QwertyUiop', 'wilgefortis1', 'plain-name!']) {
      const reply = await updb(plain.id, 'plain-name', password)
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'password')
      assert.match(
        reply.json().error.cause.reason,
        /^is (one of the most common|made from the username)/,
      )
    }
    assert.equal((await updb(plain.id, 'plain-name', 'no name of mine')).status, 201)
  })

  await t.test('D-34: removing one ends what was begun with it, and nothing else', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    const zoe = await admin.createIdentity({ password: PASSWORD })
    const hers = await logInAs(service, ada)
    const others = await logInAs(service, zoe)
    const { updb: own } = (await admin.get(`/identities/${ada.id}`)).authenticators
    const reply = await admin.call('DELETE', `/authenticators/${own.id}`)
    assert.deepEqual(DoneReply.parse(reply.json()), reply.json())
    assert.equal(await answerTo(service, hers.access_token), INVALID)
    assert.equal(await answerTo(service, others.access_token), 'taken')
    assert.equal(await statusOfLogin(service, ada.username, PASSWORD), 401)
    assertRefused(await admin.call('DELETE', `/authenticators/${own.id}`), 404, 'NOT_FOUND')
    // The name is free, and the identity may have another password.
    assert.equal((await updb(ada.id, ada.username)).status, 201)
  })

  await t.test('removing the certificate does not end what the password began', async () => {
    const ada = await admin.createIdentity({
      password: PASSWORD,
      certPem: (await tool.makeLeaf(ca)).pem,
    })
    const { access_token } = await logInAs(service, ada)
    const { authenticators } = await admin.get(`/identities/${ada.id}`)
    await admin.act('DELETE', `/authenticators/${authenticators.cert.id}`)
    assert.equal(await answerTo(service, access_token), 'taken')
  })

  await t.test('D-22: an administrator unlocks a password that was guessed at', async () => {
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true, maxAttempts: 3, lockoutDurationMinutes: 0 } },
    })
    const ada = await admin.createIdentity({ policy, password: PASSWORD })
    for (let guess = 0; guess < 3; guess += 1) {
      assert.equal(await statusOfLogin(service, ada.username, 'a guess'), 401)
    }
    assert.equal(await statusOfLogin(service, ada.username, PASSWORD), 401, 'it is locked')
    const { updb: own } = (await admin.get(`/identities/${ada.id}`)).authenticators
    assert.equal(
      (await admin.get(`/authenticators/${own.id}`)).lockedUntil,
      '9999-12-31T23:59:59.999Z',
    )

    await admin.act('POST', `/authenticators/${own.id}/unlock`)
    assert.equal((await admin.get(`/authenticators/${own.id}`)).lockedUntil, null)
    assert.equal(await statusOfLogin(service, ada.username, PASSWORD), 302)
  })

  await t.test('a certificate has no lock', async () => {
    const { pem } = await tool.makeLeaf(ca)
    const { id } = await admin.createIdentity({ certPem: pem })
    const { cert: own } = (await admin.get(`/identities/${id}`)).authenticators
    const reply = await admin.call('POST', `/authenticators/${own.id}/unlock`)
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'method')
  })
})
