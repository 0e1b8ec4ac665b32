/** R109: each change by an administrator is one event, with who, from where, and no secret. API 4.8. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'hunter2-hunter2'

test('R109: every change is one event', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const actor = decodeJwt(admin.token).sub
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const seen = new Set((await sql(service, 'select id from events')).map(({ id }) => id))

  /** The events that came since the last look. */
  async function fresh() {
    const all = await sql(service, 'select * from events order by at')
    const news = all.filter(({ id }) => !seen.has(id))
    for (const { id } of news) seen.add(id)
    return news
  }

  async function assertEvent(type: string, identityId: string | null, id?: string) {
    const news = await fresh()
    assert.deepEqual(
      news.map((event) => event['type']),
      [type],
    )
    const [event] = news
    assert.equal(event?.['actor_id'], actor)
    assert.equal(event?.['identity_id'], identityId)
    assert.equal(event?.['address'], '127.0.0.1')
    assert.ok(event?.['request_id'])
    if (id !== undefined) assert.equal(JSON.parse(String(event?.['details'])).id, id)
  }

  const ada = await admin.createIdentity()
  await assertEvent('identity.created', ada.id)
  const updb = { method: 'updb', identityId: ada.id, username: 'ada', password: PASSWORD }
  const password = await admin.create('/authenticators', updb)
  await assertEvent('authenticator.created', ada.id, password)
  await admin.act('POST', `/authenticators/${password}/unlock`)
  await assertEvent('authenticator.unlocked', ada.id, password)

  await t.test('sessions that end with their identity have their own events', async () => {
    await logInAs(service, { username: 'ada', password: PASSWORD })
    await fresh()
    await admin.act('POST', `/identities/${ada.id}/disable`)
    const news = await fresh()
    assert.deepEqual(news.map((event) => [event['type'], event['reason']]).toSorted(), [
      ['identity.disabled', null],
      ['session.ended', 'identity-disabled'],
    ])
    for (const event of news) assert.equal(event['actor_id'], actor)
  })

  await admin.act('POST', `/identities/${ada.id}/enable`)
  await assertEvent('identity.enabled', ada.id)
  await admin.act('POST', `/identities/${ada.id}/enable`)
  assert.deepEqual(await fresh(), [], 'nothing changed, so there is nothing to tell')
  await admin.act('DELETE', `/authenticators/${password}`)
  await assertEvent('authenticator.deleted', ada.id, password)
  await admin.act('DELETE', `/identities/${ada.id}`)
  await assertEvent('identity.deleted', ada.id)
  await t.test(
    'D-350: the events of a deleted identity still name it and the administrator',
    async () => {
      const named = await sql(
        service,
        `select distinct identity_name, actor_name from events where identity_id = '${ada.id}'`,
      )
      const people = named.map((row) => [row['identity_name'], row['actor_name']])
      // Without an actor: Ada's own login.
      const both = people.toSorted(([, a], [, b]) => Number(a === null) - Number(b === null))
      assert.deepEqual(both, [
        [ada.name, 'admin'],
        [ada.name, null],
      ])
    },
  )

  const signer = await admin.createSigner({ issuer: 'https://idp.example' })
  await assertEvent('external-jwt-signer.created', null, signer)
  const policy = await admin.createPolicy()
  await assertEvent('policy.created', null, policy)
  await admin.act('DELETE', `/auth-policies/${policy}`)
  await assertEvent('policy.deleted', null, policy)
  await admin.act('DELETE', `/external-jwt-signers/${signer}`)
  await assertEvent('external-jwt-signer.deleted', null, signer)

  const made = await tool.makeCa()
  const ca = await admin.createCa({ certPem: made.pem })
  await assertEvent('ca.created', null, ca)
  const { verificationToken } = await admin.get(`/cas/${ca}`)
  const proof = await tool.makeLeaf(made, { subject: `/CN=${verificationToken}` })
  assert.equal((await admin.verifyCa(ca, proof.pem)).status, 200)
  await assertEvent('ca.verified', null, ca)
  await admin.act('DELETE', `/cas/${ca}`)
  await assertEvent('ca.deleted', null, ca)

  await t.test('what is refused or only read is not a change', async () => {
    assertRefused(
      await admin.call('DELETE', '/auth-policies/default'),
      409,
      'ENTITY_CAN_NOT_BE_DELETED',
    )
    assertRefused(await admin.call('DELETE', `/identities/${actor}`), 409, 'LAST_ADMINISTRATOR')
    await admin.get('/identities')
    assert.deepEqual(await fresh(), [])
  })

  await t.test('R108: neither events nor log have the password or its hash', async () => {
    const written = JSON.stringify([await sql(service, 'select * from events'), service.log])
    assert.ok(!written.includes(PASSWORD))
    assert.ok(!written.includes('argon2'))
    assert.ok(!written.includes(verificationToken))
  })
})
