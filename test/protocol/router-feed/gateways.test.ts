/** GET /gateways: where the gateways of the network are, for everyone who has signed in. D-425. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SESSIONS } from '../../support/edge/live-session.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PATH = '/edge/client/v1/gateways'

test('gateways', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const router = async (name: string, hosts: readonly string[]) =>
    (await admin.createIdentity({ name, type: 'Router', hosts })).id
  const [west, east] = [
    await router('west', ['gw2.example.com:9443', '10.1.2.3']),
    await router('east', ['gw1.example.com']),
  ]
  await router('hidden', [])

  for (const [kind, begin] of Object.entries(SESSIONS)) {
    await t.test(`a session of the kind ${kind} gets names and hosts, by name`, async () => {
      const reply = await (await begin(service)).call(PATH)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.json(), {
        data: [
          { id: east, name: 'east', hosts: ['gw1.example.com'] },
          { id: west, name: 'west', hosts: ['gw2.example.com:9443', '10.1.2.3'] },
        ],
        meta: {},
      })
    })
  }

  await t.test('whoever has not signed in gets 401', async () => {
    const reply = await service.call(PATH)
    assert.equal(reply.status, 401)
    assert.equal(reply.json().error.code, 'UNAUTHORIZED')
  })

  await t.test('a disabled gateway is not listed, and a changed host is at once', async () => {
    const session = await SESSIONS.oidc(service)
    await admin.act('POST', `/identities/${west}/disable`, {})
    await admin.act('PATCH', `/identities/${east}`, { hosts: ['gw3.example.com'] })
    const rows = (await session.call(PATH)).json().data
    assert.deepEqual(rows, [{ id: east, name: 'east', hosts: ['gw3.example.com'] }])
  })
})
