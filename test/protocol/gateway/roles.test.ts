/**
 * Roles at a gateway that follows the real controller: D-400. A role that an administrator removes is felt by new and
 * open connections of both kinds of session, and the removal is confirmed like an end.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SESSIONS } from '../../support/edge/live-session.ts'
import { openTunnel, pass, startRealEdge, travellerOf } from '../../support/edge/real-edge.ts'
import { startService } from '../../support/service.ts'

for (const [kind, begin] of Object.entries(SESSIONS)) {
  test(`a removed role is felt by a session (${kind}), and counts again when it is given back`, async (t) => {
    const service = await startService(t)
    const edge = await startRealEdge(t, service, {
      upstreams: (to) => [{ ...to, require: { roles: ['ops'] } }],
    })
    const zoe = await edge.admin.createIdentity({
      name: 'zoe',
      password: 'a long password of zoe',
      roleAttributes: ['ops', 'dev'],
    })
    const change = async (roleAttributes: readonly string[]) => {
      const answer = await edge.admin.call('PATCH', `/identities/${zoe.id}`, { roleAttributes })
      assert.equal(answer.status, 200)
      return answer
    }
    const traveller = await travellerOf(await begin(service, zoe))
    assert.equal((await pass(t, edge, traveller))?.status, 200)
    const tunnel = await openTunnel(t, edge, traveller)
    assert.equal(tunnel.status, 101)

    const more = await change(['ops', 'dev', 'more'])
    assert.equal(more.headers['latchkey-ending'], undefined, 'nothing was taken away')
    const changed = await change(['dev'])
    await tunnel.closed
    const refused = await pass(t, edge, traveller)
    assert.equal(refused?.status, 403)
    assert.equal(refused.json().error.code, 'ROLE_REQUIRED')
    const ending = await edge.admin.get(`/endings/${changed.headers['latchkey-ending']}?wait=10`)
    assert.equal(ending.outcome, 'confirmed')

    // The session has not ended: with the role back, its next token counts again.
    await change(['ops'])
    const again = await travellerOf(await begin(service, zoe))
    assert.equal((await pass(t, edge, again))?.status, 200)
    if (kind === 'oidc') {
      assert.equal((await pass(t, edge, traveller))?.json().error.code, 'ROLE_REQUIRED')
    }
  })
}
