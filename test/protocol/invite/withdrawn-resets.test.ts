/**
 * The link of a lost phone is for the second factors that were there when it was made. It is withdrawn as soon as one is
 * removed or added. D-375.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOf } from '../../support/audit.ts'
import { assertRefusedPage } from '../../support/login/account.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  partialLogin,
  submitCode,
} from '../../support/login/authenticator-app.ts'
import { invitedVisitor, resetLink } from '../../support/login/invite.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { softAuthenticator } from '../../support/passkeys/authenticator.ts'
import { enrollKey } from '../../support/passkeys/passkey-login.ts'
import { startService } from '../../support/service.ts'

const OWN = `${CLIENT_API}/current-identity`

test('the link of a lost phone', async (t) => {
  const service = await startService(t, { config: { edge: { limits: { failuresPerAddress: 0 } } } })
  const admin = await administrate(service)

  /** A user with a session, and what they do in it. */
  const newcomer = async () => {
    const person = await admin.createIdentity({ password: PASSWORD })
    const { access_token } = await logInAs(service, person)
    const call = async (method: string, path: string, json: object = {}) => {
      const headers = { authorization: `Bearer ${access_token}` }
      const reply = await service.call(`${OWN}${path}`, { method, headers, json })
      assert.ok(reply.status < 300, reply.text)
      return reply
    }
    return {
      person,
      call,
      async addApp() {
        const { provisioningUrl } = (await call('POST', '/mfa')).json().data
        const app = authenticatorApp(provisioningUrl, service.clock)
        await call('POST', '/mfa/verify', { code: app.code() })
        return app
      },
      async addPasskey() {
        const key = softAuthenticator()
        const { publicKey } = (await call('POST', '/passkeys')).json().data
        const credential = key.create(publicKey, service.baseUrl)
        const added = await call('POST', '/passkeys/verify', { credential })
        return { key, id: added.json().data.id as string }
      },
    }
  }
  /** The link and the password remove nothing any more. */
  const assertWithdrawn = async (link: string, identityId: string) => {
    const { send } = invitedVisitor(service, link)
    const factors = () => admin.get(`/identities/${identityId}`)
    const { isMfaEnabled } = await factors()
    await assertRefusedPage(service, await send('/invite'), 400, 'INVALID_ENROLLMENT_TOKEN')
    const used = await send('/invite/mfa', { password: PASSWORD })
    await assertRefusedPage(service, used, 400, 'INVALID_ENROLLMENT_TOKEN')
    assert.equal((await factors()).isMfaEnabled, isMfaEnabled)
    assert.deepEqual(await admin.get(`/identities/${identityId}/enrollments`), [])
  }

  await t.test(
    'does not remove the app that was set up after the lost one was removed',
    async () => {
      // Attack: the help desk removed the app itself, and the mail with the link is found later, with the password.
      const { person, addApp } = await newcomer()
      await addApp()
      const link = await resetLink(admin, 'reset-mfa', person.id)
      const removed = await admin.call('DELETE', `/identities/${person.id}/mfa`)
      assert.equal(removed.status, 200, removed.text)
      const types = (await eventsOf(service, removed)).map(({ type }) => type)
      assert.deepEqual(types.toSorted(), ['enrollment.deleted', 'mfa.removed'])
      await assertWithdrawn(link, person.id)
      await addApp()
      assert.equal((await admin.get(`/identities/${person.id}`)).isMfaEnabled, true)
      await assertWithdrawn(link, person.id)
    },
  )

  await t.test('does not remove the app that its user replaced', async () => {
    const { person, call, addApp } = await newcomer()
    const app = await addApp()
    const link = await resetLink(admin, 'reset-mfa', person.id)
    await call('DELETE', '/mfa', { code: app.code() })
    await assertWithdrawn(link, person.id)
    await addApp()
    await assertWithdrawn(link, person.id)
  })

  await t.test('is withdrawn by an administrator who removes a passkey', async () => {
    const { person, addPasskey } = await newcomer()
    const [{ id }] = [await addPasskey(), await addPasskey()]
    const link = await resetLink(admin, 'reset-mfa', person.id)
    const removed = await admin.call('DELETE', `/identities/${person.id}/passkeys/${id}`)
    assert.equal(removed.status, 200, removed.text)
    await assertWithdrawn(link, person.id)
  })

  await t.test('is withdrawn by a user who removes a passkey', async () => {
    const { person, call, addPasskey } = await newcomer()
    const { key, id } = await addPasskey()
    const link = await resetLink(admin, 'reset-mfa', person.id)
    const { publicKey } = (await call('POST', '/passkeys/options')).json().data
    await call('DELETE', `/passkeys/${id}`, { credential: key.get(publicKey, service.baseUrl) })
    await assertWithdrawn(link, person.id)
  })

  await t.test('is withdrawn by another factor in a session', async () => {
    const { person, addPasskey, addApp } = await newcomer()
    await addPasskey()
    const first = await resetLink(admin, 'reset-mfa', person.id)
    await addPasskey()
    await assertWithdrawn(first, person.id)
    const second = await resetLink(admin, 'reset-mfa', person.id)
    await addApp()
    await assertWithdrawn(second, person.id)
  })

  await t.test('is withdrawn by another factor in a login', async () => {
    const person = await enrolledPerson(service, admin)
    const policy = await admin.createPolicy({
      secondary: { requireTotp: true, requirePasskey: true },
    })
    await admin.act('PATCH', `/identities/${person.id}`, { authPolicyId: policy })
    const link = await resetLink(admin, 'reset-mfa', person.id)
    const { authRequestId } = await partialLogin(service, person)
    const more = await submitCode(service, authRequestId, person.app.code())
    assert.equal(more.status, 200, more.text)
    const { reply } = await enrollKey(service, authRequestId, softAuthenticator())
    assert.equal(reply.status, 302, reply.text)
    const types = (await eventsOf(service, reply)).map(({ type }) => type)
    assert.ok(types.includes('enrollment.deleted'), String(types))
    await assertWithdrawn(link, person.id)
  })

  await t.test('stays while a set-up is only begun or given up', async () => {
    // Attack: with the password of a user whose phone was lost, the link of the help desk is made useless.
    const { person, call, addPasskey } = await newcomer()
    await addPasskey()
    const link = await resetLink(admin, 'reset-mfa', person.id)
    await call('POST', '/mfa')
    await call('DELETE', '/mfa')
    await call('POST', '/passkeys')
    const { send } = invitedVisitor(service, link)
    assert.equal((await send('/invite/mfa', { password: PASSWORD })).status, 302)
  })
})
