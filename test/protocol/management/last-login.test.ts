/**
 * When an identity last logged in, and an authenticator was last used: API 4.1, 4.2; D-268, D-269. A login counts when it
 * is finished, not when its password was right.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seconds } from '../../../src/base/time/duration.ts'
import { toRfc3339 } from '../../../src/base/time/instant.ts'
import { IdentityListReply } from '../../../src/contract/management/identities.ts'
import {
  enrolledPerson,
  PASSWORD,
  partialLogin,
  submitCode,
  totpPolicy,
} from '../../support/login/authenticator-app.ts'
import { authenticate, CLIENT_API, callsOf, legacyToken } from '../../support/login/legacy.ts'
import { answerOf, exchange, REDIRECT_URI } from '../../support/login/login.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('the last login of an identity', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  /** Past the current TOTP step, and before a code of a login expires. */
  const soon = () => {
    service.clock.advance(seconds(31))
    return toRfc3339(service.clock.now())
  }
  const identityOf = ({ id }: { id: string }) => admin.get(`/identities/${id}`)
  const lastLoginOf = async (person: { id: string }) => (await identityOf(person)).lastLoginAt

  await t.test('is null before the first one, and stays so after a wrong password', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    assert.equal(await lastLoginOf(ada), null)
    const { username } = ada
    const reply = await authenticate(service, { username, password: 'a guess' })
    assert.equal(reply.status, 401)
    assert.equal(await lastLoginOf(ada), null)
  })

  await t.test('is set by an OIDC login and by a legacy one, and updatedAt is not', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    const { updatedAt } = await identityOf(ada)
    const oidc = soon()
    await logInAs(service, ada)
    assert.equal(await lastLoginOf(ada), oidc)
    const legacy = soon()
    await legacyToken(service, ada)
    assert.equal(await lastLoginOf(ada), legacy)
    assert.equal((await identityOf(ada)).updatedAt, updatedAt)
  })

  await t.test('D-268: with an OIDC login, is the time when the code was exchanged', async () => {
    const policy = await totpPolicy(admin)
    const ada = await enrolledPerson(service, admin, { policy })
    const before = await lastLoginOf(ada)
    soon()
    const login = await partialLogin(service, ada)
    assert.equal(await lastLoginOf(ada), before, 'the password alone is no login')
    soon()
    const reply = await submitCode(service, login.authRequestId, ada.app.code())
    assert.equal(await lastLoginOf(ada), before, 'a code that nobody has exchanged is no login')
    const finished = soon()
    const code = answerOf(reply).get('code') ?? ''
    const form = { code, code_verifier: login.verifier, redirect_uri: REDIRECT_URI }
    assert.equal((await exchange(service, form)).status, 200)
    assert.equal(await lastLoginOf(ada), finished)
  })

  await t.test('D-268: of a partial legacy session, is the time of its TOTP code', async () => {
    const policy = await totpPolicy(admin)
    const ada = await enrolledPerson(service, admin, { policy })
    const enrolled = await lastLoginOf(ada)
    assert.ok(enrolled !== null, 'verifying the app completed the first session')
    const proven = soon()
    const call = callsOf(service, await legacyToken(service, ada))
    assert.equal(await lastLoginOf(ada), enrolled)
    const { authenticators } = await identityOf(ada)
    const password = await admin.get(`/authenticators/${authenticators.updb.id}`)
    assert.equal(password.lastUsedAt, proven, 'the password has begun a session')
    const wrong = await call(`${CLIENT_API}/authenticate/mfa`, { json: { code: '000000' } })
    assert.equal(wrong.json().error.code, 'MFA_INVALID_TOKEN')
    assert.equal(await lastLoginOf(ada), enrolled)
    const finished = soon()
    const right = await call(`${CLIENT_API}/authenticate/mfa`, { json: { code: ada.app.code() } })
    assert.equal(right.status, 200, right.text)
    assert.equal(await lastLoginOf(ada), finished)
    soon()
    const again = await call(`${CLIENT_API}/authenticate/mfa`, { json: { code: ada.app.code() } })
    assert.equal(again.status, 200, again.text)
    assert.equal(await lastLoginOf(ada), finished, 'a code in a full session is no login')
  })

  await t.test('D-269: lists filter and sort by it, and by lastUsedAt', async () => {
    const [never, first, second] = await Promise.all(
      [1, 2, 3].map(() => admin.createIdentity({ password: PASSWORD, roleAttributes: ['listed'] })),
    )
    assert.ok(never !== undefined && first !== undefined && second !== undefined)
    soon()
    await logInAs(service, first)
    const later = soon()
    await legacyToken(service, second)
    const idsOf = async (path: string, filter: string, sort = '') => {
      const query = new URLSearchParams({ filter, ...(sort === '' ? {} : { sort }) })
      const reply = await admin.call('GET', `${path}?${query}`)
      assert.equal(reply.status, 200, reply.text)
      return reply.json()
    }
    const listed = async (filter: string, sort?: string) => {
      const body = await idsOf(
        '/identities',
        `anyOf(roleAttributes) = "listed" and ${filter}`,
        sort,
      )
      assert.deepEqual(IdentityListReply.parse(body), body)
      return body.data.map(({ id }: { id: string }) => id)
    }
    assert.deepEqual(await listed('lastLoginAt = null'), [never.id])
    assert.deepEqual(await listed(`lastLoginAt < datetime(${later})`), [first.id])
    assert.deepEqual(await listed('true', 'lastLoginAt'), [first.id, second.id, never.id])
    assert.deepEqual(await listed('true', 'lastLoginAt desc'), [never.id, second.id, first.id])
    const owners = `identityId in ["${never.id}", "${first.id}", "${second.id}"]`
    const used = await idsOf(
      '/authenticators',
      `${owners} and lastUsedAt != null`,
      'lastUsedAt desc',
    )
    assert.deepEqual(
      used.data.map(({ identityId }: { identityId: string }) => identityId),
      [second.id, first.id],
    )
  })
})
