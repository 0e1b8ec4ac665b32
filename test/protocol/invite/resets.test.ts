/** Resets by link: a forgotten password, a lost phone. D-375. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOf } from '../../support/audit.ts'
import { enrollByPassword, PASSWORD } from '../../support/certificates/enrollment.ts'
import {
  assertRefusedPage,
  headingOf,
  openAccount,
  SESSION_COOKIE,
} from '../../support/login/account.ts'
import { enrolledPerson } from '../../support/login/authenticator-app.ts'
import { invitedVisitor, resetLink, tokenOf } from '../../support/login/invite.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const NEXT = 'another password of my own'
const CHOSEN = { password: NEXT, repeated: NEXT }

test('a reset by link', async (t) => {
  const service = await startService(t, { config: { edge: { limits: { failuresPerAddress: 0 } } } })
  const admin = await administrate(service)
  const someone = () => admin.createIdentity({ password: PASSWORD })
  const current = (token: string) =>
    service.call(`${CLIENT_API}/current-identity`, {
      headers: { authorization: `Bearer ${token}` },
    })

  await t.test(
    'changes nothing until it is used; then the old password and all sessions end',
    async () => {
      const person = await someone()
      const session = await logInAs(service, person)
      const link = await resetLink(admin, 'reset-password', person.id)
      assert.equal((await current(session.access_token)).status, 200)
      await logInAs(service, person)
      const { browser, send } = invitedVisitor(service, link)
      assert.equal(headingOf((await send('/invite')).text), 'Choose a new password')
      const saved = await send('/invite/password', CHOSEN)
      assert.equal(saved.status, 302, saved.text)
      const { pathname, search } = new URL(saved.headers.location ?? '')
      assert.equal((await browser.get(`${pathname}${search}`)).headers.location, '/account')
      assert.ok(browser.cookies.has(SESSION_COOKIE))
      assert.equal((await current(session.access_token)).status, 401)
      await logInAs(service, { ...person, password: NEXT })
      const types = (await eventsOf(service, saved)).map(({ type, reason }) =>
        reason === undefined || reason === null ? type : `${type} ${reason}`,
      )
      assert.ok(types.includes('enrollment.used'), String(types))
      assert.ok(types.includes('authenticator.updated'), String(types))
      assert.ok(types.includes('session.ended password-reset'), String(types))
      await assertRefusedPage(
        service,
        await send('/invite/password', CHOSEN),
        400,
        'ENROLLMENT_USED',
      )
    },
  )

  await t.test('does not let its holder past the second factor', async () => {
    // Attack: the link is read by somebody who has no access to the phone.
    const person = await enrolledPerson(service, admin)
    const link = await resetLink(admin, 'reset-password', person.id)
    const { browser, send } = invitedVisitor(service, link)
    const saved = await send('/invite/password', CHOSEN)
    assert.equal(saved.status, 200, saved.text)
    assert.equal(headingOf(saved.text), 'Enter your code')
    assert.ok(!browser.cookies.has(SESSION_COOKIE))
  })

  await t.test('is not a token that the API takes, and has no JWT', async () => {
    const person = await someone()
    const made = await admin.call('POST', '/enrollments', {
      method: 'reset-password',
      identityId: person.id,
    })
    const { data } = made.json()
    assert.equal(data.jwt, null)
    const given = { username: person.username, password: NEXT }
    const reply = await enrollByPassword(service, data.token, given)
    assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
    const jwt = await invitedVisitor(service, data.link).send('/invite/invitation.jwt')
    await assertRefusedPage(service, jwt, 404, 'NOT_FOUND')
    const { enrollment } = await admin.get(`/identities/${person.id}`)
    assert.deepEqual(enrollment, {}, 'existing clients read first credentials there')
    const [own] = await admin.get(`/identities/${person.id}/enrollments`)
    assert.equal(own.method, 'reset-password')
    const [event] = await eventsOf(service, made)
    assert.deepEqual(event?.details, { id: data.id, method: 'reset-password' })
  })

  await t.test(
    'is withdrawn by another one, and by a password that was changed meanwhile',
    async () => {
      const person = await someone()
      const first = await resetLink(admin, 'reset-password', person.id)
      const second = await resetLink(admin, 'reset-password', person.id)
      const old = await invitedVisitor(service, first).send('/invite')
      await assertRefusedPage(service, old, 400, 'INVALID_ENROLLMENT_TOKEN')
      assert.equal((await invitedVisitor(service, second).send('/invite')).status, 200)
      const account = await openAccount(service, person)
      const changed = await account.send('/account/password', '/account/password', {
        currentPassword: PASSWORD,
        password: NEXT,
        repeated: NEXT,
      })
      assert.equal(changed.status, 303, changed.text)
      const late = await invitedVisitor(service, second).send('/invite/password', CHOSEN)
      await assertRefusedPage(service, late, 400, 'INVALID_ENROLLMENT_TOKEN')
    },
  )

  await t.test(
    'of a lost phone needs the password too, removes the app and ends sessions',
    async () => {
      const person = await enrolledPerson(service, admin)
      const link = await resetLink(admin, 'reset-mfa', person.id)
      const { browser, send } = invitedVisitor(service, link)
      assert.equal(headingOf((await send('/invite')).text), 'Replace your app or passkey')
      for (const password of ['', 'a wrong one']) {
        const wrong = await send('/invite/mfa', { password })
        assert.equal(wrong.status, 400, wrong.text)
        assert.match(wrong.text, /role="alert"/)
      }
      assert.equal((await admin.get(`/identities/${person.id}`)).isMfaEnabled, true)
      const { password } = person
      const done = await send('/invite/mfa', { password })
      assert.equal(done.status, 302, done.text)
      assert.equal(new URL(done.headers.location ?? '').pathname, '/account/callback')
      assert.equal((await admin.get(`/identities/${person.id}`)).isMfaEnabled, false)
      const types = (await eventsOf(service, done)).map(({ type }) => type)
      for (const type of ['enrollment.used', 'mfa.removed']) assert.ok(types.includes(type), type)
      assert.ok(browser.cookies.size > 0)
      const again = await send('/invite/mfa', { password })
      await assertRefusedPage(service, again, 400, 'ENROLLMENT_USED')
    },
  )

  await t.test('of a lost phone sets up a new app where the policy demands one', async () => {
    const person = await enrolledPerson(service, admin)
    const policy = await admin.createPolicy({ secondary: { requireTotp: true } })
    await admin.act('PATCH', `/identities/${person.id}`, { authPolicyId: policy })
    const link = await resetLink(admin, 'reset-mfa', person.id)
    const { password } = person
    const done = await invitedVisitor(service, link).send('/invite/mfa', { password })
    assert.equal(headingOf(done.text), 'One more step')
  })

  await t.test('needs something to reset', async () => {
    const { id: identityId } = await admin.createIdentity()
    const password = await admin.call('POST', '/enrollments', {
      method: 'reset-password',
      identityId,
    })
    assertRefused(password, 400, 'COULD_NOT_VALIDATE', 'method')
    const mfa = await admin.call('POST', '/enrollments', { method: 'reset-mfa', identityId })
    assertRefused(mfa, 409, 'MFA_NOT_ENROLLED')
  })

  await t.test('of a disabled account waits until it is enabled', async () => {
    const person = await someone()
    const link = await resetLink(admin, 'reset-password', person.id)
    await admin.act('POST', `/identities/${person.id}/disable`, { durationMinutes: 0 })
    const reply = await invitedVisitor(service, link).send('/invite/password', CHOSEN)
    await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
    await admin.act('POST', `/identities/${person.id}/enable`, {})
    assert.equal((await invitedVisitor(service, link).send('/invite/password', CHOSEN)).status, 302)
    assert.match(tokenOf(link), /^lke_/)
  })
})
