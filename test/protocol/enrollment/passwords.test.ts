/** A token exchanged for a password that its holder chooses. API 3.2, 4.2; D-127. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EnrolledPasswordReply } from '../../../src/contract/enroll.ts'
import { eventsOf } from '../../support/audit.ts'
import {
  CLIENT,
  enrollByPassword,
  type Invited,
  inviteNew,
  PASSWORD,
} from '../../support/certificates/enrollment.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('a token is exchanged for a password', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const methodsOf = async ({ identityId }: Invited) =>
    Object.keys((await admin.get(`/identities/${identityId}`)).authenticators)

  await t.test('API 3.2: the password logs in', async () => {
    const invited = await inviteNew(admin, { updb: 'Zoë' })
    const credentials = { username: 'Zoë', password: PASSWORD }
    const reply = await enrollByPassword(service, invited.token, credentials)
    assert.equal(reply.status, 200, reply.text)
    const body = reply.json()
    assert.deepEqual(EnrolledPasswordReply.parse(body), body)
    assert.deepEqual(body, { data: { username: 'Zoë' }, meta: {} })
    const types = (await eventsOf(service, reply)).map(({ type }) => type).toSorted()
    assert.deepEqual(types, ['authenticator.created', 'enrollment.used'])
    const { access_token } = await logInAs(service, credentials)
    const me = await service.call(`${CLIENT}/current-identity`, {
      headers: { authorization: `Bearer ${access_token}` },
    })
    assert.equal(me.json().data.id, invited.identityId)
    const again = await enrollByPassword(service, invited.token, credentials)
    assertRefused(again, 400, 'ENROLLMENT_USED')
  })

  await t.test(
    'the name may be written in another way, and keeps the one it was given',
    async () => {
      const invited = await inviteNew(admin, { updb: 'Straße' })
      const credentials = { username: 'STRASSE', password: PASSWORD }
      const reply = await enrollByPassword(service, invited.token, credentials)
      assert.equal(reply.json().data.username, 'Straße')
      await logInAs(service, credentials)
    },
  )

  await t.test('JSON and forms are read, also at ?method=updb', async () => {
    const form = [
      ['username', 'form'],
      ['password', PASSWORD],
    ] as const
    const one = await inviteNew(admin, { updb: 'form' })
    const posted = await service.call(`${CLIENT}/enroll/updb?token=${one.token}`, { form })
    assert.equal(posted.status, 200, posted.text)
    const other = await inviteNew(admin, { updb: 'json' })
    const json = { username: 'json', password: PASSWORD, token: other.token }
    const dispatched = await service.call(`${CLIENT}/enroll?method=updb`, { json })
    assert.equal(dispatched.status, 200, dispatched.text)
  })

  await t.test(
    'API 4.2: a password that may not be set is refused, and nothing is spent',
    async () => {
      const invited = await inviteNew(admin, { updb: 'careful' })
      const passwords = [
        'short',
        'a'.repeat(129),
        'password',
        'password1',
        'careful2026',
        'service!',
      ]
      for (const password of passwords) {
        const reply = await enrollByPassword(service, invited.token, {
          username: 'careful',
          password,
        })
        assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'password')
      }
      assert.deepEqual(await methodsOf(invited), [])
      const good = { username: 'careful', password: PASSWORD }
      assert.equal((await enrollByPassword(service, invited.token, good)).status, 200)
    },
  )

  await t.test('the policy of the identity says how long a password must be', async () => {
    const updb = { allowed: true, minPasswordLength: 30 }
    const authPolicyId = await admin.createPolicy({ primary: { updb } })
    const invited = await inviteNew(admin, { updb: 'long' }, { authPolicyId })
    const reply = await enrollByPassword(service, invited.token, {
      username: 'long',
      password: PASSWORD,
    })
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'password')
    assert.match(reply.json().error.cause.reason, /30/)
  })

  await t.test('D-127: enrolling does not ask whether the policy allows the method', async () => {
    const primary = { cert: { allowed: true } }
    const authPolicyId = await admin.createPolicy({ primary })
    const invited = await inviteNew(admin, { updb: 'early' }, { authPolicyId })
    const credentials = { username: 'early', password: PASSWORD }
    assert.equal((await enrollByPassword(service, invited.token, credentials)).status, 200)
    const { authRequestId } = await beginLogin(service)
    const login = await submitPassword(service, authRequestId, credentials)
    assertRefused(login, 401, 'INVALID_AUTH')
  })

  await t.test('another name than that of the enrollment is refused', async () => {
    const invited = await inviteNew(admin, { updb: 'mine' })
    const credentials = { username: 'admin', password: PASSWORD }
    const reply = await enrollByPassword(service, invited.token, credentials)
    assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'username')
    assert.deepEqual(await methodsOf(invited), [])
  })

  await t.test(
    'a name that was taken in the meantime is refused, and nothing is spent',
    async () => {
      const invited = await inviteNew(admin, { updb: 'wanted' })
      const { id } = await admin.createIdentity({ username: 'Wanted', password: PASSWORD })
      const credentials = { username: 'wanted', password: PASSWORD }
      const reply = await enrollByPassword(service, invited.token, credentials)
      assertRefused(reply, 409, 'ENTITY_NAME_IN_USE', 'username')
      await admin.act('DELETE', `/identities/${id}`)
      assert.equal((await enrollByPassword(service, invited.token, credentials)).status, 200)
    },
  )

  await t.test('what is missing or of another type is named', async () => {
    const { token } = await inviteNew(admin, { updb: 'named' })
    const url = `${CLIENT}/enroll/updb?token=${token}`
    const faults: [unknown, string][] = [
      [{}, 'username'],
      [{ username: 'named' }, 'password'],
      [{ username: 1, password: PASSWORD }, 'username'],
      [{ username: 'named', password: 1 }, 'password'],
      [{ username: 'n'.repeat(257), password: PASSWORD }, 'username'],
      [{ username: 'named', password: 'p'.repeat(1_025) }, 'password'],
      [{ username: 'named', password: PASSWORD, token: 'another' }, 'token'],
    ]
    for (const [json, field] of faults) {
      assertRefused(await service.call(url, { json }), 400, 'COULD_NOT_VALIDATE', field)
    }
    const json = { username: 'named', password: PASSWORD }
    const without = await service.call(`${CLIENT}/enroll/updb`, { json })
    assertRefused(without, 400, 'COULD_NOT_VALIDATE', 'token')
    const text = { body: 'named', headers: { 'content-type': 'text/plain' } }
    assertRefused(await service.call(url, text), 415, 'UNSUPPORTED_MEDIA_TYPE')
    const dispatched = await service.call(`${CLIENT}/enroll?method=updb&token=${token}`, text)
    assertRefused(dispatched, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  await t.test('a token for a certificate does not work for a password', async () => {
    const { token } = await inviteNew(admin, { ott: true })
    const reply = await enrollByPassword(service, token, { username: 'x', password: PASSWORD })
    assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
  })
})

test('R081: without a token, nothing is hashed', async (t) => {
  // Attack: a stranger posts passwords to be hashed, so that logins find the machine busy.
  const service = await startService(t, {
    hashing: 'as shipped',
    config: { edge: { passwords: { hashing: 1, queue: 0 }, limits: { failuresPerAddress: 0 } } },
  })
  const attempts = Array.from({ length: 30 }, (_, i) =>
    enrollByPassword(service, `lke_${i}`, { username: 'x', password: PASSWORD }),
  )
  // With one hash at a time and no queue, two that were hashed would be 503.
  for (const reply of await Promise.all(attempts)) {
    assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
  }
})
