/**
 * Legacy logins with a client certificate, on both APIs: asked for, and inferred. SPEC Legacy authentication; D-51,
 * D-12, D-21.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { comparable, eventsOf, failureOf } from '../../support/audit.ts'
import { presenting, registerCa } from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import type { CallOptions } from '../../support/http-client.ts'
import { MISSING } from '../../support/login/challenges.ts'
import { APIS, ztSession } from '../../support/login/legacy.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

test('legacy logins with a certificate', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const root = await makeCa({ subject: '/CN=Partner Root' })
  const middle = await makeCa({ subject: '/CN=Partner Middle', issuer: root })
  await registerCa(admin, openssl, root)
  const leaf = await makeLeaf(middle)
  const { id } = await admin.createIdentity({ certPem: leaf.pem })
  const client = presenting(service, leaf, middle)

  for (const api of APIS) {
    for (const [how, path, options] of [
      ['asked for', `${api}/authenticate?method=cert`, { method: 'POST' }],
      ['asked for, with a body', `${api}/authenticate?method=cert`, { json: { sdkInfo: {} } }],
      ['inferred from nothing at all', `${api}/authenticate`, { method: 'POST' }],
      ['inferred, with a body', `${api}/authenticate`, { json: { configTypes: ['a'] } }],
    ] as const satisfies readonly (readonly [string, string, CallOptions])[]) {
      await t.test(`D-51: ${api}: the method is ${how}`, async () => {
        const reply = await client.call(path, options)
        assert.equal(reply.status, 200, reply.text)
        const { data } = reply.json()
        assert.equal(data.identityId, id)
        assert.deepEqual(data.amr, ['swk'])
        assert.deepEqual(data.authQueries, [])
        assert.equal(reply.headers['zt-session'], data.token)
        const [event] = await eventsOf(service, reply)
        assert.equal(event?.type, 'login.succeeded')
        assert.equal(event.details.method, 'cert')
        assert.equal(event.details.authenticatorId, data.authenticatorId)
        const call = await service.call(`${api}/current-identity`, ztSession(data.token))
        assert.equal(call.json().data.id, id, 'the session needs no certificate afterwards')
      })
    }

    await t.test(`D-51: ${api}: a method that is asked for wins over what is there`, async () => {
      const url = `${api}/authenticate?method=cert`
      const byCertificate = await client.call(url, { json: ADMIN })
      assert.equal(byCertificate.json().data.identityId, id)
      const missing = await client.call(`${api}/authenticate?method=password`, { json: {} })
      assert.equal(missing.json().error.code, 'COULD_NOT_VALIDATE')
      const headers = { authorization: 'Bearer x' }
      const beside = await client.call(url, { method: 'POST', headers })
      assert.equal(beside.json().data.identityId, id, 'a bearer token beside it is not looked at')
      const inferred = await client.call(`${api}/authenticate`, { method: 'POST', headers })
      assert.equal((await failureOf(service, inferred)).details.method, 'ext-jwt')
    })

    await t.test(`D-12: ${api}: what fails is answered in one way`, async () => {
      const url = `${api}/authenticate?method=cert`
      const stranger = await makeLeaf(await makeCa())
      const unknown = await makeLeaf(root)
      const answers = []
      for (const [other, reason] of [
        [service, 'no-certificate'],
        [presenting(service, stranger), 'certificate-untrusted'],
        [presenting(service, unknown), 'certificate-unknown'],
        [presenting(service, leaf), 'certificate-untrusted'],
      ] as const) {
        const reply = await other.call(url, { method: 'POST' })
        assert.equal(reply.status, 401, reply.text)
        assert.equal(reply.json().error.code, 'INVALID_AUTH')
        assert.equal(reply.headers['www-authenticate'], MISSING)
        assert.equal(reply.headers['zt-session'], undefined)
        const event = await failureOf(service, reply)
        assert.equal(event.reason, reason)
        assert.equal(event.details.method, 'cert')
        answers.push(comparable(reply))
      }
      for (const answer of answers) assert.deepEqual(answer, answers[0])
    })
  }
})
