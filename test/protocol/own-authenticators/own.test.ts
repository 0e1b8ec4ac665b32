/** A person's own password and certificate, on both APIs: read and changed. API 3.1, 4.2; D-22, D-123. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DoneReply } from '../../../src/contract/envelope.ts'
import {
  AuthenticatorListReply,
  AuthenticatorReply,
} from '../../../src/contract/management/authenticators.ts'
import { eventsOf } from '../../support/audit.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import type { Reply } from '../../support/http-client.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { APIS, authenticate, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { logInOffline, refreshed } from '../../support/login/refresh.ts'
import {
  type Administrator,
  administrate,
  assertRefused,
  type CreatedIdentity,
  logInAs,
} from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'
const OTHER = 'quite another password'
const [CLIENT] = APIS
const OWN = `${CLIENT}/current-identity/authenticators`

interface Person extends CreatedIdentity {
  readonly token: string
  /** The id of the password. */
  readonly updb: string
  call(method: string, path: string, json?: unknown): Promise<Reply>
}

async function personIn(service: Service, admin: Administrator, fields = {}): Promise<Person> {
  const ada = await admin.createIdentity({ password: PASSWORD, ...fields })
  const { access_token: token } = await logInAs(service, ada)
  const { updb } = (await admin.get(`/identities/${ada.id}`)).authenticators
  const call = (method: string, path: string, json?: unknown) =>
    service.call(path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(json === undefined ? {} : { json }),
    })
  return { ...ada, token, updb: updb.id, call }
}

async function world(t: TestContext) {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = (fields = {}) => personIn(service, admin, fields)
  const statusOfLogin = async (username: string, password: string) =>
    (await authenticate(service, { username, password })).status
  return { service, admin, person, statusOfLogin }
}

test('a user reads their own authenticators, and no others', async (t) => {
  const { admin, person, service } = await world(t)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const { pem } = await tool.makeLeaf(await tool.makeCa())
  const ada = await person({ certPem: pem })
  const zoe = await person()

  for (const api of APIS) {
    const all = `${api}/current-identity/authenticators`
    const list = (await ada.call('GET', all)).json()
    assert.deepEqual(AuthenticatorListReply.parse(list), list)
    assert.deepEqual(
      list.data.map(({ method }: { method: string }) => method),
      ['updb', 'cert'],
    )
    assert.equal(list.meta.pagination.totalCount, 2)
    const filter = encodeURIComponent('method = "cert"')
    const [cert, ...more] = (await ada.call('GET', `${all}?filter=${filter}`)).json().data
    assert.deepEqual(more, [])
    assert.equal(cert.certPem, pem)
    const self = `./current-identity/authenticators/${cert.id}`
    assert.equal(cert._links.self.href, self)

    const one = (await ada.call('GET', `${all}/${ada.updb}`)).json()
    assert.deepEqual(AuthenticatorReply.parse(one), one)
    assert.equal(one.data.username, ada.username)
    assert.equal(one.data.identityId, ada.id)
    assert.ok(one.data.lastUsedAt)
    assert.ok(!JSON.stringify([list, one]).includes('argon2'))

    // Attack: the id of somebody else's password is tried. It is not there, as one that nobody has.
    for (const id of [zoe.updb, 'nothing', '%00']) {
      for (const method of ['GET', 'PUT', 'PATCH']) {
        const body = method === 'GET' ? undefined : { tags: {}, currentPassword: PASSWORD }
        assertRefused(await ada.call(method, `${all}/${id}`, body), 404, 'NOT_FOUND')
      }
    }
  }
  assert.deepEqual((await admin.get(`/authenticators/${zoe.updb}`)).tags, {})
  const fault = await ada.call('GET', `${OWN}?filter=passwordHash%20%3D%20%22x%22`)
  assertRefused(fault, 400, 'INVALID_FILTER', 'filter')
  const legacy = callsOf(service, await legacyToken(service, zoe))
  assert.equal((await legacy(OWN)).json().data[0].id, zoe.updb)
})

test('a user changes their own password', async (t) => {
  const { service, admin, person, statusOfLogin } = await world(t)

  await t.test('API 3.1: which ends the other sessions, and leaves this one', async () => {
    const ada = await person()
    const others = await logInAs(service, ada)
    const legacy = callsOf(service, await legacyToken(service, ada))
    const body = { password: OTHER, currentPassword: PASSWORD }
    const reply = await ada.call('PATCH', `${OWN}/${ada.updb}`, body)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(DoneReply.parse(reply.json()), reply.json())
    assert.equal(await answerTo(service, ada.token), 'taken')
    assert.equal(await answerTo(service, others.access_token), INVALID)
    assertRefused(await legacy(`${CLIENT}/current-identity`), 401, 'UNAUTHORIZED')
    assert.equal(await statusOfLogin(ada.username, PASSWORD), 401)
    assert.equal(await statusOfLogin(ada.username, OTHER), 200)
    const events = await eventsOf(service, reply)
    assert.deepEqual(events.map(({ type, reason }) => [type, reason]).toSorted(), [
      ['authenticator.updated', null],
      ['session.ended', 'credential-changed'],
      ['session.ended', 'credential-changed'],
    ])
    assert.ok(!JSON.stringify(events).includes(OTHER), 'R108')
    assert.ok(!JSON.stringify(service.log).includes(OTHER), 'R108')
  })

  await t.test('and goes on with the refresh token of this session', async () => {
    const ada = await person()
    const tokens = await logInOffline(service, {}, ada)
    const reply = await service.call(`${OWN}/${ada.updb}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${tokens.access_token}` },
      json: { password: OTHER, currentPassword: PASSWORD },
    })
    assert.equal(reply.status, 200, reply.text)
    const next = await refreshed(service, tokens.refresh_token)
    assert.equal(await answerTo(service, next.access_token), 'taken')
    assert.equal(await answerTo(service, ada.token), INVALID)
  })

  await t.test('by PUT, which names the password, and the username or not (D-121)', async () => {
    for (const isNamed of [true, false]) {
      const ada = await person()
      const path = `${OWN}/${ada.updb}`
      const named = isNamed ? { username: ada.username } : {}
      assertRefused(
        await ada.call('PUT', path, { ...named, currentPassword: PASSWORD }),
        400,
        'COULD_NOT_VALIDATE',
        'password',
      )
      const body = { ...named, password: OTHER, currentPassword: PASSWORD }
      const reply = await ada.call('PUT', path, body)
      assert.equal(reply.status, 200, reply.text)
      assert.equal(await statusOfLogin(ada.username, OTHER), 200)
    }
  })

  await t.test('changing tags needs no password; respelling the username does', async () => {
    const ada = await person()
    const path = `${OWN}/${ada.updb}`
    const other = await logInAs(service, ada)
    assert.equal((await ada.call('PATCH', path, { tags: { mine: true } })).status, 200)
    assert.equal((await ada.call('PATCH', path, {})).status, 200)
    assert.equal(await answerTo(service, other.access_token), 'taken')
    assert.deepEqual((await admin.get(`/authenticators/${ada.updb}`)).tags, { mine: true })
    const spelled = ada.username.toUpperCase()
    for (const body of [{ username: spelled }, { password: OTHER }]) {
      const reply = await ada.call('PATCH', path, body)
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'currentPassword')
    }
    const renamed = { username: spelled, currentPassword: PASSWORD }
    assert.equal((await ada.call('PATCH', path, renamed)).status, 200)
    assert.equal((await admin.get(`/authenticators/${ada.updb}`)).username, spelled)
    assert.equal(await statusOfLogin(ada.username, PASSWORD), 200)
    assert.equal(await answerTo(service, other.access_token), INVALID)
  })

  await t.test('by the rules of every password, and under a username of the own', async () => {
    const ada = await person()
    const zoe = await person()
    const path = `${OWN}/${ada.updb}`
    const faults: readonly (readonly [object, string])[] = [
      [{ password: '1234567' }, 'password'],
      [{ password: 'password' }, 'password'],
      [{ password: `${ada.username}!` }, 'password'],
      [{ password: OTHER, identityId: zoe.id }, 'identityId'],
      [{ password: OTHER, method: 'cert' }, 'method'],
      [{ password: OTHER, isAdmin: true }, 'isAdmin'],
      [{ username: '' }, 'username'],
      [{ username: 'ﷺ'.repeat(20) }, 'username'],
      [{ password: OTHER, currentPassword: 7 }, 'currentPassword'],
      [{ password: OTHER, currentPassword: null }, 'currentPassword'],
    ]
    for (const [fault, field] of faults) {
      const reply = await ada.call('PATCH', path, { currentPassword: PASSWORD, ...fault })
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', field)
    }
    assert.equal(await answerTo(service, ada.token), 'taken')
    assert.equal(await statusOfLogin(ada.username, PASSWORD), 200)
  })

  // Attack: a user tries one name after the other as their own username, to learn which names exist. R077.
  await t.test('D-217: changing a username does not reveal whether a name exists', async () => {
    const ada = await person()
    const zoe = await person()
    const path = `${OWN}/${ada.updb}`
    const answers = new Set<string>()
    for (const username of [zoe.username, zoe.username.toUpperCase(), ADMIN.username, 'nobody']) {
      for (const proof of [{ currentPassword: PASSWORD }, { currentPassword: 'wrong' }, {}]) {
        for (const method of ['PATCH', 'PUT'] as const) {
          const reply = await ada.call(method, path, { username, ...proof, password: OTHER })
          assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'username')
          answers.add(reply.json().error.cause.reason)
        }
      }
    }
    assert.equal(answers.size, 1, [...answers].join(', '))
    assert.equal(await statusOfLogin(ada.username, PASSWORD), 200, 'and nothing was changed')
  })

  // Attack: whoever has got hold of a session guesses at the password behind it. D-22, R078, R079.
  await t.test(
    'D-123: a wrong present password is 400, counts, and locks like a login',
    async () => {
      const policy = await admin.createPolicy({
        primary: { updb: { allowed: true, maxAttempts: 3, lockoutDurationMinutes: 0 } },
      })
      const ada = await person({ policy })
      const path = `${OWN}/${ada.updb}`
      const attempt = (currentPassword: string) =>
        ada.call('PATCH', path, { password: OTHER, currentPassword })
      const wrong = await attempt('a guess')
      assertRefused(wrong, 400, 'COULD_NOT_VALIDATE', 'currentPassword')
      assert.equal(wrong.headers['www-authenticate'], undefined)
      const [event] = await eventsOf(service, wrong)
      assert.deepEqual([event?.type, event?.reason], ['login.failed', 'wrong-password'])
      assert.equal(await statusOfLogin(ada.username, 'another guess'), 401)
      const replies = await Promise.all(['x', 'y', 'z'].map((text) => attempt(`guess ${text}`)))
      for (const reply of replies) {
        assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'currentPassword')
      }
      const locked = await attempt(PASSWORD)
      assertRefused(locked, 400, 'COULD_NOT_VALIDATE', 'currentPassword')
      assert.equal(locked.json().error.cause.reason, wrong.json().error.cause.reason)
      assert.equal(await statusOfLogin(ada.username, PASSWORD), 401, 'the login is locked too')
      assert.equal(await answerTo(service, ada.token), 'taken', 'and the session is not ended')
      await admin.act('POST', `/authenticators/${ada.updb}/unlock`)
      assert.equal((await attempt(PASSWORD)).status, 200)
    },
  )

  await t.test('of two changes with one present password at once one is made', async () => {
    const ada = await person()
    const zoe = await logInAs(service, ada)
    const change = (token: string, password: string) =>
      service.call(`${OWN}/${ada.updb}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}` },
        json: { password, currentPassword: PASSWORD },
      })
    const replies = await Promise.all([
      change(ada.token, 'first of two passwords'),
      change(zoe.access_token, 'second of two passwords'),
    ])
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    const refused = replies.find(({ status }) => status !== 200)
    // Its session has ended with the other change, or the password is not the present one any more.
    assert.ok([400, 401].includes(refused?.status ?? 0), String(refused?.text))
    assert.equal(await statusOfLogin(ada.username, PASSWORD), 401)
  })

  await t.test(
    'R051: a session that has ended changes nothing, also when it is just ending',
    async () => {
      const ada = await person()
      const body = { password: OTHER, currentPassword: PASSWORD }
      const [changed, ended] = await Promise.all([
        ada.call('PATCH', `${OWN}/${ada.updb}`, body),
        admin.call('DELETE', `/identities/${ada.id}/api-sessions`),
      ])
      assert.equal(ended.status, 200)
      assert.ok([200, 401].includes(changed.status), changed.text)
      const expected = changed.status === 200 ? 200 : 401
      assert.equal(await statusOfLogin(ada.username, OTHER), expected)
      assertRefused(await ada.call('PATCH', `${OWN}/${ada.updb}`, {}), 401, 'UNAUTHORIZED')
    },
  )
})

test('a user changes the tags of their own certificate, and not the certificate', async (t) => {
  const { admin, person } = await world(t)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const ca = await tool.makeCa()
  const [own, other] = [await tool.makeLeaf(ca), await tool.makeLeaf(ca)]
  const ada = await person({ certPem: own.pem })
  const { cert } = (await admin.get(`/identities/${ada.id}`)).authenticators
  const path = `${OWN}/${cert.id}`
  assert.equal((await ada.call('PUT', path, { tags: { a: 1 } })).status, 200)
  assert.equal((await ada.call('PATCH', path, { certPem: own.pem })).status, 200)
  assert.deepEqual((await admin.get(`/authenticators/${cert.id}`)).tags, { a: 1 })
  for (const method of ['PUT', 'PATCH']) {
    for (const [body, field] of [
      [{ certPem: other.pem }, 'certPem'],
      [{ password: OTHER }, 'password'],
      [{ currentPassword: PASSWORD }, 'currentPassword'],
    ] as const) {
      assertRefused(await ada.call(method, path, body), 400, 'COULD_NOT_VALIDATE', field)
    }
  }
  assert.equal((await admin.get(`/authenticators/${cert.id}`)).fingerprint, own.fingerprint)
})
