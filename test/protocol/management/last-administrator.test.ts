/**
 * D-49: no call leaves the service without an administrator who can log in. Attack and accident alike: whoever gets
 * hold of the last administrator's session, or slips, locks everybody out for good.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

/** The first administrator, by what he is and has. */
async function theAdministrator(
  service: Service,
): Promise<{ admin: Administrator; id: string; authenticatorId: string }> {
  const admin = await administrate(service)
  const all = await admin.get('/identities?limit=500')
  const { id, authenticators } = all.find(({ name }: { name: string }) => name === 'admin')
  return { admin, id, authenticatorId: authenticators.updb.id }
}

test('the last administrator stays', async (t) => {
  const service = await startService(t)
  const { admin, id, authenticatorId } = await theAdministrator(service)
  const attempts = async () => [
    await admin.call('DELETE', `/identities/${id}`),
    await admin.call('POST', `/identities/${id}/disable`),
    await admin.call('POST', `/identities/${id}/disable`, { durationMinutes: 1 }),
    await admin.call('DELETE', `/authenticators/${authenticatorId}`),
  ]
  const assertKept = async () => {
    for (const reply of await attempts()) assertRefused(reply, 409, 'LAST_ADMINISTRATOR')
    // Nothing of it has happened: the session lives, and so does the password.
    assert.equal((await admin.get(`/identities/${id}`)).disabled, false)
    await administrate(service)
  }

  await t.test('when they are the only one', assertKept)

  await t.test('when the others are no administrators', async () => {
    await admin.createIdentity({ password: PASSWORD })
    await assertKept()
  })

  await t.test('when the other one has nothing to log in with', async () => {
    const other = await admin.createIdentity({ isAdmin: true })
    await assertKept()
    await admin.act('DELETE', `/identities/${other.id}`)
  })

  await t.test('when the policy of the other one does not allow their password', async () => {
    const other = await admin.createIdentity({
      isAdmin: true,
      password: PASSWORD,
      policy: 'production',
    })
    await assertKept()
    await admin.act('DELETE', `/identities/${other.id}`)
  })

  await t.test('when the other one is disabled', async () => {
    const other = await admin.createIdentity({ isAdmin: true, password: PASSWORD })
    await admin.act('POST', `/identities/${other.id}/disable`)
    await assertKept()
    await admin.act('DELETE', `/identities/${other.id}`)
  })

  await t.test('when the signer of the other one is disabled', async () => {
    const signer = await admin.createSigner({ issuer: 'https://off.example', enabled: false })
    const other = await admin.createIdentity({ isAdmin: true, externalId: 'other' })
    await assertKept()
    await admin.act('DELETE', `/identities/${other.id}`)
    await admin.act('DELETE', `/external-jwt-signers/${signer}`)
  })
})

test('an administrator may go while another one can log in', async (t) => {
  await t.test('by a password', async (t) => {
    const service = await startService(t)
    const { admin, id } = await theAdministrator(service)
    const other = await admin.createIdentity({ isAdmin: true, password: PASSWORD })
    await admin.act('DELETE', `/identities/${id}`)
    const second = await administrate(service, other)
    assertRefused(await second.call('DELETE', `/identities/${other.id}`), 409, 'LAST_ADMINISTRATOR')
  })

  await t.test('by an external JWT, whose signer must then stay', async (t) => {
    const service = await startService(t)
    const { admin, authenticatorId } = await theAdministrator(service)
    await admin.createIdentity({ isAdmin: true, externalId: 'other' })
    const signer = await admin.createSigner({ issuer: 'https://idp.example' })
    await admin.act('DELETE', `/authenticators/${authenticatorId}`)
    // That call ended the session it was made with; a look at the database tells the rest.
    assertRefused(await admin.call('GET', '/identities'), 401, 'UNAUTHORIZED')
    const store = await service.openStore()
    assert.deepEqual(
      (await store.externalJwtSigners.list()).map(({ id }) => id),
      [signer],
    )
  })

  await t.test(
    'a signer can be deleted only while an administrator can log in without it',
    async (t) => {
      const service = await startService(t)
      const { admin, id } = await theAdministrator(service)
      const other = await admin.createIdentity({
        isAdmin: true,
        externalId: 'other',
        password: PASSWORD,
      })
      const signer = await admin.createSigner({ issuer: 'https://idp.example' })
      const second = await administrate(service, other)
      const { updb } = (await second.get(`/identities/${other.id}`)).authenticators
      await second.act('DELETE', `/identities/${id}`)
      // From here on the only administrator has a password and the signer.
      await second.act('DELETE', `/external-jwt-signers/${signer}`)
      const gone = await second.call('DELETE', `/authenticators/${updb.id}`)
      assertRefused(gone, 409, 'LAST_ADMINISTRATOR')
    },
  )
})

test('of two administrators who delete each other at the same time, one remains', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const service = await startService(t)
    const { admin, id } = await theAdministrator(service)
    const other = await admin.createIdentity({ isAdmin: true, password: PASSWORD })
    const second = await administrate(service, other)
    const replies = await Promise.all([
      admin.call('DELETE', `/identities/${other.id}`),
      second.call('DELETE', `/identities/${id}`),
    ])
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    const refused = replies.find(({ status }) => status !== 200)
    // Whoever came second was the last one, or had no session any more.
    assert.ok(['LAST_ADMINISTRATOR', 'UNAUTHORIZED'].includes(refused?.json().error.code))
    const store = await service.openStore()
    const { rows } = await store.identities.list({ limit: 10, offset: 0 })
    assert.equal(rows.filter(({ isAdmin }) => isAdmin).length, 1)
    await service.stop()
  }
})

test('of two administrators who are deleted at the same time, one remains', async (t) => {
  const service = await startService(t)
  const { admin, id } = await theAdministrator(service)
  const other = await admin.createIdentity({ isAdmin: true, password: PASSWORD })
  const replies = await Promise.all([
    admin.call('DELETE', `/identities/${other.id}`),
    admin.call('POST', `/identities/${id}/disable`),
  ])
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  const store = await service.openStore()
  const { rows } = await store.identities.list({ limit: 10, offset: 0 })
  assert.equal(rows.filter((one) => one.isAdmin && one.disabledAt === undefined).length, 1)
})
