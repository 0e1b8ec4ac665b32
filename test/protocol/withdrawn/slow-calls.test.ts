/**
 * A call whose body arrives slowly is authenticated by its header, and does nothing if its session ends before the body
 * is there. D-491; R047.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectRaw } from '../../support/edge/raw-connection.ts'
import { byPassword, ztTokenBy } from '../../support/login/begun.ts'
import { INVALID, NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import { administrate, logInAs, MANAGEMENT } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a perfectly fine password'

// Attack: an administrator who is about to be removed has calls open that need only their last byte.
test('D-491: a call that was begun before its session ended changes nothing afterwards', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ways = {
    'access token': async (one: { username: string }) => {
      const { access_token } = await logInAs(service, { ...one, password: PASSWORD })
      return { field: `authorization: Bearer ${access_token}`, challenge: INVALID }
    },
    'zt-session': async ({ username }: { username: string }) => {
      const token = await ztTokenBy(byPassword(service, { username, password: PASSWORD }))
      return { field: `zt-session: ${token}`, challenge: NO_SUCH_SESSION }
    },
  }
  for (const [kind, begin] of Object.entries(ways)) {
    await t.test(kind, async (t) => {
      const one = await admin.createIdentity({ password: PASSWORD, isAdmin: true })
      const { field, challenge } = await begin(one)
      const body = JSON.stringify({ name: `backdoor of ${one.id}`, type: 'Default', isAdmin: true })
      const { send, reply, socket } = await connectRaw(service)
      t.after(() => socket.destroy())
      send(
        [
          `POST ${MANAGEMENT}/identities HTTP/1.1`,
          `host: ${new URL(service.baseUrl).host}`,
          field,
          'content-type: application/json',
          `content-length: ${body.length}`,
          '',
          body.slice(0, -1),
        ].join('\r\n'),
      )
      await service.call(`${MANAGEMENT}/version`)
      await admin.act('PATCH', `/identities/${one.id}`, { isAdmin: false })
      send(body.slice(-1))
      const answer = await reply()
      assert.ok(answer)
      assert.equal(answer.status, 401, answer.text)
      assert.equal(answer.json().error.code, 'UNAUTHORIZED')
      assert.equal(answer.header('www-authenticate'), challenge)
      const filter = encodeURIComponent(`name="backdoor of ${one.id}"`)
      assert.deepEqual(await admin.get(`/identities?filter=${filter}`), [])
    })
  }
})
