/**
 * The preview of a policy change says what the change would do, and does nothing. D-365. Each part is compared with what
 * then happens when the same change is made.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PolicyPreviewReply } from '../../../src/contract/management/auth-policy-preview.ts'
import { eventsOf } from '../../support/audit.ts'
import { answerTo } from '../../support/login/challenges.ts'
import { authenticate } from '../../support/login/legacy.ts'
import { logInOffline, refresh } from '../../support/login/refresh.ts'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

async function preview(admin: Administrator, policy: string, body: object) {
  const reply = await admin.call('POST', `/auth-policies/${policy}/what-if`, body)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(PolicyPreviewReply.parse(reply.json()), reply.json())
  return { reply, data: reply.json().data }
}

const namesOf = ({ rows }: { rows: { name: string }[] }) => rows.map(({ name }) => name).toSorted()

test('a preview of a policy change is what the change then does', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const signer = await admin.createSigner({ issuer: 'https://idp.example' })
  const policy = await admin.createPolicy()
  const known = { policy, password: PASSWORD }
  const ada = await admin.createIdentity({ ...known, name: 'Ada' })
  const bob = await admin.createIdentity({ ...known, name: 'Bob', externalId: 'bob@idp' })
  await admin.createIdentity({ policy, name: 'Nothing registered' })
  const off = await admin.createIdentity({ ...known, name: 'Disabled' })
  await admin.act('POST', `/identities/${off.id}/disable`)
  await admin.createIdentity({ password: PASSWORD, name: 'Of another policy' })
  const session = await logInOffline(service, {}, ada)
  const legacy = await authenticate(service, bob)
  assert.equal(legacy.status, 200, legacy.text)
  const noPasswords = { primary: { updb: { allowed: false } } }

  await t.test('without passwords: who has no other way, and which sessions end', async () => {
    const { reply, data } = await preview(admin, policy, noPasswords)
    assert.deepEqual(data.changed, ['primary'])
    assert.deepEqual(data.identities, { total: 4, judged: 4 })
    assert.deepEqual(namesOf(data.lockedOut), ['Ada'])
    assert.deepEqual(
      data.lockedOut.rows[0].because.map(({ method, reason }: Record<string, string>) => [
        method,
        reason,
      ]),
      [['password', 'method-not-allowed']],
    )
    assert.equal(data.alreadyUnable, 2)
    assert.equal(data.refusal, null)
    assert.deepEqual(
      data.sessions.ending.rows
        .map((row: { kind: string; reason: string }) => [row.kind, row.reason])
        .toSorted(),
      [
        ['legacy', 'method-not-allowed'],
        ['oidc', 'method-not-allowed'],
      ],
    )
    assert.equal(data.sessions.live, 2)
    // Nothing happened: no event, no new version of the policy, and the session goes on.
    assert.deepEqual(await eventsOf(service, reply), [])
    const { primary } = await admin.get(`/auth-policies/${policy}`)
    assert.equal(primary.updb.allowed, true)
    assert.equal(await answerTo(service, session.access_token), 'taken')
  })

  await t.test(
    'a second factor: who must set it up; OIDC sessions end, legacy ones wait',
    async () => {
      const { data } = await preview(admin, policy, { secondary: { requireTotp: true } })
      assert.deepEqual(namesOf(data.mustEnroll), ['Ada', 'Bob'])
      assert.equal(data.lockedOut.count, 0)
      assert.deepEqual(
        data.sessions.ending.rows.map((row: { kind: string; reason: string }) => [
          row.kind,
          row.reason,
        ]),
        [['oidc', 'totp-missing']],
      )
      assert.equal(data.sessions.restricted, 1)
    },
  )

  await t.test('a second JWT of a disabled signer: nobody can sign in any more', async () => {
    await admin.act('PATCH', `/external-jwt-signers/${signer}`, { enabled: false })
    const { data } = await preview(admin, policy, { secondary: { requireExtJwt: signer } })
    assert.deepEqual(namesOf(data.lockedOut), ['Ada', 'Bob'])
    assert.equal(data.lockedOut.rows[0].because[0].reason, 'signer-disabled')
    await admin.act('PATCH', `/external-jwt-signers/${signer}`, { enabled: true })
  })

  await t.test('a change that changes nothing affects nothing', async () => {
    const { data } = await preview(admin, policy, { primary: { updb: { allowed: true } } })
    assert.deepEqual(data.changed, [])
    assert.equal(data.lockedOut.count + data.sessions.ending.count, 0)
  })

  await t.test('faults are those of the change itself', async () => {
    const call = (id: string, body: object) =>
      admin.call('POST', `/auth-policies/${id}/what-if`, body)
    assertRefused(await call('nothing', {}), 404, 'NOT_FOUND')
    assertRefused(await call(policy, { name: 'default' }), 409, 'ENTITY_NAME_IN_USE', 'name')
    const unknown = { secondary: { requireExtJwt: 'nothing' } }
    const field = 'secondary.requireExtJwt'
    assertRefused(await call(policy, unknown), 400, 'COULD_NOT_VALIDATE', field)
    assertRefused(await call(policy, { colour: 1 }), 400, 'COULD_NOT_VALIDATE', 'colour')
  })

  await t.test('D-49: it reports that the last administrator would be locked out', async () => {
    const { data } = await preview(admin, 'default', noPasswords)
    assert.equal(data.refusal, 'LAST_ADMINISTRATOR')
    assert.ok(namesOf(data.lockedOut).includes('admin'))
    const refused = await admin.call('PATCH', '/auth-policies/default', noPasswords)
    assertRefused(refused, 409, 'LAST_ADMINISTRATOR')
  })

  await t.test('the change then does what the preview said', async () => {
    await admin.act('PATCH', `/auth-policies/${policy}`, noPasswords)
    assert.notEqual(await answerTo(service, session.access_token), 'taken')
    assert.equal((await refresh(service, session.refresh_token)).status, 400)
    assert.equal((await authenticate(service, ada)).status, 401)
  })
})
