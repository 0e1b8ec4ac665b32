/**
 * D-49, D-114: nor does a change leave the service without an administrator who can log in. Attack and accident alike:
 * whoever gets hold of the last administrator's session, or slips, locks everybody out for good.
 */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { registerCa } from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  type Administrator,
  administrate,
  administratorWith,
  assertRefused,
} from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

const PASSWORD = 'a password of somebody'

const postgres = await startPostgres()
after(() => postgres.stop())

async function theAdministrator(service: Service) {
  const admin = await administrate(service)
  const [{ id }] = await admin.get(`/identities?filter=${encodeURIComponent('name = "admin"')}`)
  return { admin, id }
}

const kept = (reply: Reply) => assertRefused(reply, 409, 'LAST_ADMINISTRATOR')

test('the last administrator keeps a password that works', async (t) => {
  const service = await startService(t)
  const { admin, id } = await theAdministrator(service)
  await admin.createIdentity({ password: PASSWORD })
  const policies = '/auth-policies/default'
  const without = { name: 'default', primary: { cert: { allowed: true } } }
  const signer = await admin.createSigner({ issuer: 'https://idp.example', enabled: false })

  kept(await admin.call('PATCH', `/identities/${id}`, { isAdmin: false }))
  const whole = { name: 'admin', type: 'Default', isAdmin: false }
  kept(await admin.call('PUT', `/identities/${id}`, whole))
  kept(await admin.call('PATCH', `/identities/${id}`, { authPolicyId: 'production' }))
  kept(await admin.call('PATCH', policies, { primary: { updb: { allowed: false } } }))
  kept(await admin.call('PUT', policies, without))
  kept(await admin.call('PATCH', policies, { secondary: { requireExtJwt: signer } }))
  // Nothing of it has happened: the session lives, and so does the password.
  assert.equal((await admin.get(`/identities/${id}`)).isAdmin, true)
  assert.equal((await admin.get(policies)).primary.updb.allowed, true)
  await administrate(service)

  // What takes nobody's way in away may be done.
  await admin.act('PATCH', policies, { primary: { updb: { maxAttempts: 5 } } })
  await admin.act('PATCH', `/identities/${id}`, { tags: { a: 1 } })
  const other = await admin.createIdentity({ isAdmin: true, password: PASSWORD })
  await admin.act('PATCH', `/identities/${id}`, { isAdmin: false })
  kept(
    await (await administrate(service, other)).call('PATCH', `/identities/${other.id}`, {
      isAdmin: false,
    }),
  )
})

test('the last administrator keeps the signer that vouches for him', async (t) => {
  const service = await startService(t)
  const { admin, id } = await theAdministrator(service)
  const other = await admin.createIdentity({ isAdmin: true, externalId: 'other' })
  const signer = await admin.createSigner({ issuer: 'https://idp.example' })
  const path = `/external-jwt-signers/${signer}`
  // Both by the signer alone from here on; the session of the first one goes on.
  await admin.act('PATCH', `/identities/${id}`, { tags: {}, externalId: null })
  const { updb } = (await admin.get(`/identities/${id}`)).authenticators
  const store = await service.openStore()
  await store.authenticators.remove(updb.id)

  kept(await admin.call('PATCH', path, { enabled: false }))
  kept(await admin.call('PATCH', `/identities/${other.id}`, { externalId: null }))
  const closed = { primary: { extJwt: { allowed: false } } }
  kept(await admin.call('PATCH', '/auth-policies/default', closed))
  assert.equal((await admin.get(path)).enabled, true)
  await admin.act('PATCH', path, { audience: 'somebody' })
})

test('the last administrator keeps the CA whose claim names him', async (t) => {
  const service = await startService(t)
  const { admin, id } = await theAdministrator(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  await admin.createIdentity({ isAdmin: true, externalId: 'other' })
  const claim = { location: 'COMMON_NAME' }
  const ca = await registerCa(admin, tool, await tool.makeCa(), { externalIdClaim: claim })
  const { updb } = (await admin.get(`/identities/${id}`)).authenticators
  const store = await service.openStore()
  await store.authenticators.remove(updb.id)

  kept(await admin.call('PATCH', `/cas/${ca}`, { isAuthEnabled: false }))
  kept(await admin.call('PATCH', `/cas/${ca}`, { externalIdClaim: null }))
  kept(await admin.call('PUT', `/cas/${ca}`, { name: 'x' }))
  await admin.act('PATCH', `/cas/${ca}`, { externalIdClaim: { index: 0 }, name: 'renamed' })
})

/** One instance on SQLite, or two on PostgreSQL. */
const PLACES: Readonly<Record<string, (t: TestContext) => Promise<readonly [Service, Service]>>> = {
  'on SQLite': async (t) => {
    const service = await startService(t)
    return [service, service]
  },
  'at two instances on PostgreSQL': async (t) => {
    const one = await installation(await migratedDatabase())
    return [await one.start(t), await one.start(t)]
  },
}

for (const [where, start] of Object.entries(PLACES)) {
  test(`two administrators who lose their rights at the same moment, ${where}: one keeps them`, async (t) => {
    const [here, there] = await start(t)
    const { admin, id } = await theAdministrator(here)
    const store = await here.openStore()
    let survivor: { admin: Administrator; id: string } = { admin, id }
    for (let round = 0; round < 6; round += 1) {
      const other = await survivor.admin.createIdentity({ isAdmin: true, password: PASSWORD })
      const second = await administrate(there, other)
      const loses = round % 2 === 0 ? { isAdmin: false } : { authPolicyId: 'production' }
      const replies = await Promise.all([
        survivor.admin.call('PATCH', `/identities/${other.id}`, loses),
        second.call('PATCH', `/identities/${survivor.id}`, loses),
      ])
      const texts = replies.map(({ text }) => text).join()
      assert.equal(replies.filter(({ status }) => status === 200).length, 1, texts)
      // Whoever came second was the last one, or had no session any more.
      const refused = replies.find(({ status }) => status !== 200)
      const { code } = refused?.json().error ?? {}
      assert.ok(['LAST_ADMINISTRATOR', 'UNAUTHORIZED'].includes(code), texts)
      if (replies[1].status === 200) survivor = { admin: second, id: other.id }
      const { rows } = await store.identities.list({ limit: 100, offset: 0 })
      const able = rows.filter((one) => one.isAdmin && one.authPolicyId === 'default')
      assert.deepEqual(
        able.map((one) => String(one.id)),
        [survivor.id],
      )
    }
  })

  test(`of the policies of the only two administrators, closed at once, ${where}, one stays open`, async (t) => {
    const [here, there] = await start(t)
    const { admin } = await theAdministrator(here)
    const elsewhere = administratorWith(there, admin.token)
    for (let round = 0; round < 4; round += 1) {
      const policy = await admin.createPolicy({ primary: { updb: { allowed: true } } })
      const first = await admin.createIdentity({ isAdmin: true, password: PASSWORD, policy })
      // Two administrators, each with a policy of his own; both policies close to passwords.
      const closes = admin.call('PATCH', `/auth-policies/${policy}`, {
        primary: { updb: { allowed: false }, cert: { allowed: true } },
      })
      const second = elsewhere.call('PATCH', '/auth-policies/default', {
        primary: { updb: { allowed: false } },
      })
      const replies = await Promise.all([closes, second])
      const texts = replies.map(({ text }) => text).join()
      assert.equal(replies.filter(({ status }) => status === 200).length, 1, texts)
      // The second one was refused for the last administrator, or the first one had closed the policy of its caller (D-232).
      const { code } = replies.find(({ status }) => status !== 200)?.json().error ?? {}
      assert.ok(['LAST_ADMINISTRATOR', 'UNAUTHORIZED'].includes(code), texts)
      const back = { primary: { updb: { allowed: true } } }
      const able = replies[1].status === 200 ? await administrate(here, first) : admin
      await able.act('PATCH', '/auth-policies/default', back)
      await admin.act('DELETE', `/identities/${first.id}`)
    }
  })

  test(`changes of different fields at the same moment, ${where}, all stand`, async (t) => {
    const [here, there] = await start(t)
    const admins = [await administrate(here), await administrate(there)] as const
    for (let round = 0; round < 6; round += 1) {
      const { id } = await admins[0].createIdentity({
        isAdmin: round % 2 === 0,
        password: PASSWORD,
      })
      const policy = await admins[0].createPolicy()
      const { updb } = (await admins[0].get(`/identities/${id}`)).authenticators
      const changes: readonly (readonly [string, object])[] = [
        [`/identities/${id}`, { tags: { round } }],
        [`/identities/${id}`, { authPolicyId: policy }],
        [`/identities/${id}`, { name: `round ${round}` }],
        [`/authenticators/${updb.id}`, { username: `round-${round}` }],
        [`/authenticators/${updb.id}`, { tags: { round } }],
        [`/auth-policies/${policy}`, { primary: { updb: { maxAttempts: 7 } } }],
        [`/auth-policies/${policy}`, { secondary: { requireTotp: true } }],
      ]
      const replies = await Promise.all(
        changes.map(([path, body], i) => (admins[i % 2] ?? admins[0]).call('PATCH', path, body)),
      )
      for (const reply of replies) assert.equal(reply.status, 200, reply.text)
      const identity = await admins[0].get(`/identities/${id}`)
      assert.deepEqual(
        [identity.tags, identity.authPolicyId, identity.name],
        [{ round }, policy, `round ${round}`],
      )
      const { username, tags } = await admins[1].get(`/authenticators/${updb.id}`)
      assert.deepEqual([username, tags], [`round-${round}`, { round }])
      const { primary, secondary } = await admins[1].get(`/auth-policies/${policy}`)
      assert.deepEqual([primary.updb.maxAttempts, secondary.requireTotp], [7, true])
    }
  })
}
