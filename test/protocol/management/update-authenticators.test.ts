/** PUT and PATCH of passwords and certificates, by an administrator. API 1, 4.2; D-22, D-34, D-117, D-121, D-122. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { DoneReply } from '../../../src/contract/envelope.ts'
import { AuthenticatorReply } from '../../../src/contract/management/authenticators.ts'
import { eventsOf } from '../../support/audit.ts'
import {
  certificateLogin,
  logInByCertificate,
  presenting,
  registerCa,
} from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { ownIssuingCa } from '../../support/certificates/own-pki.ts'
import { enrolledPerson, renewal } from '../../support/certificates/renewal.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { authenticate, callsOf, legacyToken } from '../../support/login/legacy.ts'
import {
  answerOf,
  beginLogin,
  exchange,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import {
  type Administrator,
  administrate,
  assertRefused,
  logInAs,
} from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'a password of somebody'
const OTHER = 'quite another password'

async function statusOfLogin(service: Service, username: string, password: string) {
  return (await authenticate(service, { username, password })).status
}

async function own(admin: Administrator, id: string) {
  const { updb, cert } = (await admin.get(`/identities/${id}`)).authenticators
  return { updb: `/authenticators/${updb?.id}`, cert: `/authenticators/${cert?.id}` }
}

test('passwords are replaced and changed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = async (fields: object = {}) => {
    const ada = await admin.createIdentity({ password: PASSWORD, ...fields })
    return { ...ada, path: (await own(admin, ada.id)).updb }
  }

  await t.test('API 1: PUT sets username, password and tags', async () => {
    const ada = await person()
    await admin.act('PATCH', ada.path, { tags: { by: 'hand' } })
    const reply = await admin.call('PUT', ada.path, { username: 'ada-2', password: OTHER })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(DoneReply.parse(reply.json()), reply.json())
    const { username, tags } = await admin.get(ada.path)
    assert.deepEqual({ username, tags }, { username: 'ada-2', tags: {} })
    assert.equal(await statusOfLogin(service, 'ADA-2', OTHER), 200)
    assert.equal(await statusOfLogin(service, ada.username, PASSWORD), 401)
    assert.equal(await statusOfLogin(service, 'ada-2', PASSWORD), 401)
  })

  await t.test('API 1: PATCH changes what it names; the password that is there stays', async () => {
    const ada = await person()
    const before = await admin.get(ada.path)
    await admin.act('PATCH', ada.path, { username: 'renamed', tags: { a: null } })
    const { username, tags } = await admin.get(ada.path)
    assert.deepEqual({ username, tags }, { username: 'renamed', tags: { a: null } })
    assert.equal(await statusOfLogin(service, 'renamed', PASSWORD), 200)
    assert.equal(await statusOfLogin(service, ada.username, PASSWORD), 401)
    // Who names what never changes as it is, changes nothing.
    const { method, identityId } = before
    await admin.act('PATCH', ada.path, { method, identityId, tags: null })
    assert.deepEqual((await admin.get(ada.path)).tags, {})
    const reply = await admin.call('PATCH', ada.path, {})
    assert.equal(reply.status, 200)
    assert.deepEqual(await eventsOf(service, reply), [])
  })

  await t.test('what it is and whose it is stays; unknown fields are named', async () => {
    const ada = await person()
    const zoe = await person()
    const faults: readonly (readonly [object, string])[] = [
      [{ identityId: zoe.id }, 'identityId'],
      [{ method: 'cert' }, 'method'],
      [{ certPem: 'x' }, 'certPem'],
      [{ lockedUntil: '2026-01-01T00:00:00.000Z' }, 'lockedUntil'],
      [{ lastUsedAt: '2026-01-01T00:00:00.000Z' }, 'lastUsedAt'],
      [{ passwordHash: 'x' }, 'passwordHash'],
      [{ currentPassword: PASSWORD }, 'currentPassword'],
      [{ username: null }, 'username'],
      [{ username: ' ada' }, 'username'],
      [{ username: 'ﷺ'.repeat(20) }, 'username'],
      [{ password: 7 }, 'password'],
      [{ password: '\ud800'.repeat(9) }, 'password'],
    ]
    for (const [fault, field] of faults) {
      const change = await admin.call('PATCH', ada.path, fault)
      assertRefused(change, 400, 'COULD_NOT_VALIDATE', field)
      const whole = { username: ada.username, password: OTHER, ...fault }
      assertRefused(await admin.call('PUT', ada.path, whole), 400, 'COULD_NOT_VALIDATE', field)
    }
    // D-309: null is as good as absent.
    assert.equal((await admin.call('PATCH', ada.path, { identityId: null })).status, 200)
    const nameless = await admin.call('PUT', ada.path, { password: OTHER })
    assertRefused(nameless, 400, 'COULD_NOT_VALIDATE', 'username')
    const wordless = await admin.call('PUT', ada.path, { username: ada.username })
    assertRefused(wordless, 400, 'COULD_NOT_VALIDATE', 'password')
    const taken = await admin.call('PATCH', ada.path, { username: zoe.username.toUpperCase() })
    assertRefused(taken, 409, 'ENTITY_NAME_IN_USE', 'username')
    for (const method of ['PUT', 'PATCH']) {
      assertRefused(await admin.call(method, '/authenticators/nothing', {}), 404, 'NOT_FOUND')
    }
    assert.equal(await statusOfLogin(service, ada.username, PASSWORD), 200)
  })

  await t.test('R073, R074: the rules for a new password are those of a first one', async () => {
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true, minPasswordLength: 15 } },
    })
    const ada = await person({ policy, name: 'Wilgefortis' })
    for (const password of ['x'.repeat(14), 'x'.repeat(129), '', 'wilgefortis12345']) {
      const reply = await admin.call('PATCH', ada.path, { password })
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'password')
    }
    assert.equal((await admin.call('PATCH', ada.path, { password: 'x'.repeat(15) })).status, 200)
  })

  // Attack: somebody has the password and a session from it; the administrator resets the password, and he stays.
  await t.test('D-34: a password that is reset ends every session, and the lock', async () => {
    const policy = await admin.createPolicy({
      primary: { updb: { allowed: true, maxAttempts: 2, lockoutDurationMinutes: 0 } },
    })
    const ada = await person({ policy })
    const { access_token } = await logInAs(service, ada)
    const legacy = callsOf(service, await legacyToken(service, ada))
    for (let guess = 0; guess < 2; guess += 1) {
      assert.equal(await statusOfLogin(service, ada.username, 'a guess'), 401)
    }
    assert.notEqual((await admin.get(ada.path)).lockedUntil, null)
    const reply = await admin.call('PATCH', ada.path, { password: OTHER })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(await answerTo(service, access_token), INVALID)
    assertRefused(await legacy('/edge/client/v1/current-identity'), 401, 'UNAUTHORIZED')
    assert.equal((await admin.get(ada.path)).lockedUntil, null)
    assert.equal(await statusOfLogin(service, ada.username, PASSWORD), 401)
    assert.equal(await statusOfLogin(service, ada.username, OTHER), 200)
    const events = await eventsOf(service, reply)
    assert.deepEqual(events.map(({ type, reason }) => [type, reason]).toSorted(), [
      ['authenticator.updated', null],
      ['session.ended', 'password-reset'],
      ['session.ended', 'password-reset'],
    ])
    const [updated] = events.filter(({ type }) => type === 'authenticator.updated')
    assert.deepEqual(updated?.details.changed, ['password'])
    assert.deepEqual(updated?.details.changes, {})
    assert.ok(!JSON.stringify(events).includes(OTHER), 'R108')
  })

  // Attack: a login with the old password is begun just before the reset, and finished after it.
  await t.test('D-122: what the former password proved no longer begins a session', async () => {
    const ada = await person()
    const { authRequestId, verifier } = await beginLogin(service)
    const { username, password } = ada
    const answer = answerOf(await submitPassword(service, authRequestId, { username, password }))
    await admin.act('PATCH', ada.path, { password: OTHER })
    const form = {
      code: answer.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
    }
    const reply = await exchange(service, form)
    assert.equal(reply.status, 400)
    assert.equal(reply.json().error, 'invalid_grant')
    assert.equal((await admin.get(`/identities/${ada.id}`)).hasApiSession, false)
  })

  await t.test(
    'R079: many logins while the password is reset leave no session behind',
    async () => {
      for (let round = 0; round < 5; round += 1) {
        const ada = await person()
        const logins = Array.from({ length: 8 }, () =>
          statusOfLogin(service, ada.username, PASSWORD),
        )
        const reset = admin.call('PATCH', ada.path, { password: OTHER })
        await Promise.all([...logins, reset])
        assert.equal((await reset).status, 200)
        assert.equal((await admin.get(`/identities/${ada.id}`)).hasApiSession, false)
      }
    },
  )

  await t.test('another username ends nothing', async () => {
    const ada = await person()
    const { access_token } = await logInAs(service, ada)
    await admin.act('PATCH', ada.path, { username: `${ada.username}-2` })
    assert.equal(await answerTo(service, access_token), 'taken')
  })

  await t.test('of two that take one username at once one gets it', async () => {
    const people = [await person(), await person()]
    const replies = await Promise.all(
      people.map(({ path }) => admin.call('PATCH', path, { username: 'both' })),
    )
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 409])
  })

  await t.test('two PATCHes of different fields at once both stand', async () => {
    const ada = await person()
    const changes = [{ username: 'at-once' }, { tags: { at: 'once' } }, { password: OTHER }]
    const replies = await Promise.all(changes.map((one) => admin.call('PATCH', ada.path, one)))
    for (const reply of replies) assert.equal(reply.status, 200, reply.text)
    assert.deepEqual((await admin.get(ada.path)).tags, { at: 'once' })
    assert.equal(await statusOfLogin(service, 'at-once', OTHER), 200)
  })

  await t.test('API 4.2: lastUsedAt is the moment of the last login, and null before', async () => {
    const ada = await person()
    assert.equal((await admin.get(ada.path)).lastUsedAt, null)
    assert.equal(await statusOfLogin(service, ada.username, 'a guess'), 401)
    assert.equal((await admin.get(ada.path)).lastUsedAt, null)
    await logInAs(service, ada)
    const body = (await admin.call('GET', ada.path)).json()
    assert.deepEqual(AuthenticatorReply.parse(body), body)
    const first = body.data.lastUsedAt
    assert.ok(first >= body.data.createdAt, first)
    await legacyToken(service, ada)
    assert.ok((await admin.get(ada.path)).lastUsedAt > first)
  })
})

test('certificates are replaced and changed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const ca = await tool.makeCa()
  await registerCa(admin, tool, ca)

  await t.test('D-122: another certificate takes the place of the former one', async () => {
    const [former, next] = [await tool.makeLeaf(ca), await tool.makeLeaf(ca)]
    const ada = await admin.createIdentity({ certPem: former.pem, password: PASSWORD })
    const { cert } = await own(admin, ada.id)
    const byCertificate = await logInByCertificate(presenting(service, former))
    const byPassword = await logInAs(service, ada)
    const reply = await admin.call('PUT', cert, { certPem: next.pem, tags: { a: 1 } })
    assert.equal(reply.status, 200, reply.text)
    const { fingerprint, tags } = await admin.get(cert)
    assert.deepEqual({ fingerprint, tags }, { fingerprint: next.fingerprint, tags: { a: 1 } })
    assert.equal(await answerTo(service, byCertificate.access_token), INVALID)
    assert.equal(await answerTo(service, byPassword.access_token), 'taken')
    assert.equal((await certificateLogin(presenting(service, former))).status, 401)
    assert.equal((await certificateLogin(presenting(service, next))).status, 302)
    const events = await eventsOf(service, reply)
    const [updated] = events.filter(({ type }) => type === 'authenticator.updated')
    assert.deepEqual(updated?.details.changes, {
      certPem: { from: `SHA-256 ${former.fingerprint}`, to: `SHA-256 ${next.fingerprint}` },
    })
    const ended = events.filter(({ type }) => type === 'session.ended')
    assert.deepEqual(
      ended.map(({ reason }) => reason),
      ['certificate-replaced'],
    )
  })

  await t.test('the same certificate in another spelling is not a change', async () => {
    const leaf = await tool.makeLeaf(ca)
    const ada = await admin.createIdentity({ certPem: leaf.pem })
    const { cert } = await own(admin, ada.id)
    const { access_token } = await logInByCertificate(presenting(service, leaf))
    const reply = await admin.call('PATCH', cert, { certPem: `words before\n${leaf.pem}\n` })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(await eventsOf(service, reply), [])
    await admin.act('PATCH', cert, { tags: { b: 2 } })
    assert.equal(await answerTo(service, access_token), 'taken')
  })

  await t.test(
    'what is not a certificate, is in use, or is not one of its fields is refused',
    async () => {
      const [one, other] = [await tool.makeLeaf(ca), await tool.makeLeaf(ca)]
      await admin.createIdentity({ certPem: other.pem })
      const ada = await admin.createIdentity({ certPem: one.pem })
      const { cert } = await own(admin, ada.id)
      const patch = (body: object) => admin.call('PATCH', cert, body)
      assertRefused(await patch({ certPem: other.pem }), 409, 'CERT_IN_USE')
      assertRefused(await patch({ certPem: 'nothing' }), 400, 'INVALID_CERT_PEM')
      assertRefused(await patch({ certPem: null }), 400, 'COULD_NOT_VALIDATE', 'certPem')
      assertRefused(await patch({ password: OTHER }), 400, 'COULD_NOT_VALIDATE', 'password')
      assertRefused(await patch({ fingerprint: 'x' }), 400, 'COULD_NOT_VALIDATE', 'fingerprint')
      assertRefused(await patch({ method: 'updb' }), 400, 'COULD_NOT_VALIDATE', 'method')
      assert.equal((await admin.get(cert)).fingerprint, one.fingerprint)
    },
  )
})

test('D-117: a certificate of ours that was replaced stays refused at routers', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const ended = async () => {
    const rows = await sql(service, 'select subject from session_endings')
    return rows.map(({ subject }) => String(subject)).filter((text) => text.startsWith('cert:'))
  }
  /** Somebody whose renewal waits to be confirmed. */
  const renewing = async () => {
    const person = await enrolledPerson(service, admin, tool)
    const { access_token } = await logInByCertificate(presenting(service, person.certificate))
    const next = await renewal(service, access_token, person)
    return { former: person.certificate, next, path: `/authenticators/${person.authenticatorId}` }
  }

  await t.test('with the renewal that waited', async () => {
    const { former, next, path } = await renewing()
    const other = await tool.makeLeaf(await ownIssuingCa(service))
    await admin.act('PATCH', path, { certPem: other.pem })
    const expected = [former, next].map(({ fingerprint }) => `cert:${fingerprint}`)
    assert.deepEqual((await ended()).toSorted(), expected.toSorted())
    assert.equal((await certificateLogin(presenting(service, next))).status, 401)
  })

  await t.test('but not the renewal itself, when that is what takes its place', async () => {
    const before = await ended()
    const { former, next, path } = await renewing()
    // Without the CAs that came with it.
    await admin.act('PATCH', path, { certPem: new X509Certificate(next.der).toString() })
    const news = (await ended()).filter((subject) => !before.includes(subject))
    assert.deepEqual(news, [`cert:${former.fingerprint}`])
    assert.equal((await certificateLogin(presenting(service, next))).status, 302)
  })
})
