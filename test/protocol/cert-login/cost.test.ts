/**
 * What a client certificate costs us before anything is authenticated: counted, on every route that judges one. D-321.
 * Attack: a chain of CAs that could all have issued each other, sent with requests of two bytes.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import https from 'node:https'
import { after, test } from 'node:test'
import { failureOf } from '../../support/audit.ts'
import { presenting, registerCa, shows } from '../../support/certificates/certificate-login.ts'
import { crossSigned } from '../../support/certificates/cross-signed.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { beginLogin } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())

const CLIENT = '/edge/client/v1'

test('D-321: an anonymous chain makes us verify no signature', async (t) => {
  const service = await startService(t)
  const attacker = presenting(service, ...(await crossSigned(openssl, '/CN=x')))
  const { authRequestId } = await beginLogin(service)
  const verify = t.mock.method(X509Certificate.prototype, 'verify')

  const legacy = await attacker.call(`${CLIENT}/authenticate?method=cert`, { json: {} })
  assert.equal(legacy.json().error.code, 'INVALID_AUTH')
  assert.equal((await failureOf(service, legacy)).reason, 'certificate-untrusted')
  for (const [path, status, options] of [
    ['/oidc/login/cert', 401, { json: { authRequestId } }],
    [`${CLIENT}/enroll/ca`, 400, { method: 'POST' }],
    [`${CLIENT}/router-feed`, 401, {}],
    [`${CLIENT}/router-checks`, 401, { json: {} }],
  ] as const) {
    const reply = await attacker.call(path, options)
    assert.equal(reply.status, status, `${path}: ${reply.text}`)
  }
  assert.equal(verify.mock.callCount(), 0)
})

test('D-321: a chain that names a CA of ours is verified only once per connection', async (t) => {
  const service = await startService(t)
  const partner = await openssl.makeCa({ subject: '/CN=Partner' })
  await registerCa(await administrate(service), openssl, partner)
  const chain = await crossSigned(openssl, partner.subject)
  const agent = new https.Agent({ ...shows(...chain), keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const verify = t.mock.method(X509Certificate.prototype, 'verify')
  for (let i = 0; i < 3; i++) {
    const reply = await service.call(`${CLIENT}/authenticate?method=cert`, { json: {}, agent })
    assert.equal(reply.json().error.code, 'INVALID_AUTH')
    assert.equal((await failureOf(service, reply)).reason, 'certificate-untrusted')
    assert.equal(verify.mock.callCount(), chain.length)
  }
})
