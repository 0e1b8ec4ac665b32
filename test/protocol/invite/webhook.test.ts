/** `notifications.webhook`: whatever creates a link posts it, and no answer waits for that. D-378. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inviteNew, PASSWORD } from '../../support/certificates/enrollment.ts'
import { eventually } from '../../support/eventually.ts'
import { resetLink } from '../../support/login/invite.ts'
import { administrate } from '../../support/management.ts'
import { startMonitored } from '../../support/monitoring/monitoring.ts'
import { startReceiver, WEBHOOK_SECRET } from '../../support/monitoring/webhook-receiver.ts'
import { startService } from '../../support/service.ts'

const secret = `whsec_${WEBHOOK_SECRET.toString('base64')}`

test('links are posted to the receiver of the operator', async (t) => {
  const { url, received } = await startReceiver(t)
  const config = { notifications: { webhook: { url, secret } } }
  const service = await startService(t, { config })
  const admin = await administrate(service)
  const noticeOf = (link: unknown) =>
    eventually(() => received.find(({ body }) => body.data.link === link), 'the notice')

  await t.test('on create, refresh and re-enroll, and for a reset', async () => {
    const tags = { mail: 'ada@example.com' }
    const invited = await inviteNew(admin, { updb: 'ada' }, { tags, externalId: 'a.l' })
    const { link } = invited as typeof invited & { link: string }
    const { body, isSigned } = await noticeOf(link)
    assert.ok(isSigned)
    assert.equal(body.type, 'invitation.created')
    assert.deepEqual(body.data.identity, {
      id: invited.identityId,
      name: invited.name,
      tags,
      externalId: 'a.l',
    })
    assert.equal(body.data.enrollment.username, 'ada')
    const refreshed = await admin.call('POST', `/enrollments/${invited.id}/refresh`, {})
    await noticeOf(refreshed.json().data.link)

    const person = await admin.createIdentity({ password: PASSWORD })
    const reset = await noticeOf(await resetLink(admin, 'reset-password', person.id))
    assert.deepEqual(
      [reset.body.type, reset.body.data.enrollment.method],
      ['reset.created', 'reset-password'],
    )
    const [password] = await admin.get(`/identities/${person.id}/authenticators`)
    const again = await admin.call('POST', `/authenticators/${password.id}/re-enroll`, {})
    await noticeOf(again.json().data.link)
    const delivered = await eventually(async () => {
      const filter = encodeURIComponent('type = "notification.delivered"')
      const events = await admin.get(`/events?filter=${filter}`)
      return events.length === 4 ? events : undefined
    }, 'an event for each')
    assert.equal(delivered.at(-1).details.id, invited.id)
    assert.ok(!JSON.stringify(delivered).includes('lke_'))
  })

  await t.test('nothing is posted for what was refused', async () => {
    const before = received.length
    const refused = await admin.call('POST', '/enrollments', {
      method: 'reset-mfa',
      identityId: (await admin.createIdentity()).id,
    })
    assert.equal(refused.status, 409)
    assert.equal(received.length, before)
  })
})

test('D-362: a receiver that is away is a warning, and no reason to leave the instance', async (t) => {
  const { url } = await startReceiver(t, (_, response) => response.writeHead(503).end())
  const config = { notifications: { webhook: { url, secret } } }
  const { service, ask } = await startMonitored(t, { config })
  const admin = await administrate(service)
  assert.equal((await ask('/health-checks')).json().data.warnings, undefined)
  await inviteNew(admin, { updb: 'eve' })
  const data = await eventually(async () => {
    const reply = await ask('/health-checks')
    assert.equal(reply.status, 200)
    return reply.json().data.warnings === undefined ? undefined : reply.json().data
  }, 'the warning')
  assert.equal(data.healthy, true)
  assert.deepEqual(data.warnings, [
    { id: 'notifications', description: 'Links could not be delivered to notifications.webhook.' },
  ])
  assert.match((await ask('/metrics')).text, /latchkey_health_warning\{warning="notifications"\} 1/)
})
