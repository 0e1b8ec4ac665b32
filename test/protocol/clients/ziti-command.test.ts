/** What the `ziti` command sends and reads, request by request: D-318, D-475. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { inviteNew, PASSWORD } from '../../support/certificates/enrollment.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { OPENZITI } from '../../support/login/openziti.ts'
import { administrateOpenZiti } from '../../support/login/openziti-administrator.ts'
import { assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const CLIENT = '/edge/client/v1'

test('`ziti edge enroll` of a password sends no username unless it was told one', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  for (const path of ['/enroll?method=updb&', `${CLIENT}/enroll?method=updb&`, '/enroll/updb?']) {
    const username = `user of ${path}`
    const { token } = await inviteNew(admin, { updb: username })
    const enroll = (json: object) => service.call(`${path}token=${token}`, { json })
    assertRefused(await enroll({}), 400, 'COULD_NOT_VALIDATE', 'password')
    const other = { username: 'admin', password: PASSWORD }
    assertRefused(await enroll(other), 400, 'COULD_NOT_VALIDATE', 'username')
    const wrong = { username: 1, password: PASSWORD }
    assertRefused(await enroll(wrong), 400, 'COULD_NOT_VALIDATE', 'username')
    const done = await enroll({ password: PASSWORD })
    assert.equal(done.status, 200, done.text)
    assert.deepEqual(done.json().data, { username })
    const json = { username, password: PASSWORD }
    const login = await service.call('/authenticate?method=password', { json })
    assert.equal(login.status, 200, login.text)
  }
})

test('an identity has what its model requires, as programs that were generated from it read it', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const { id } = await admin.createIdentity({ name: 'zoe' })
  const detail = await admin.get(`/identities/${id}`)
  const [listed] = await admin.get(`/identities?filter=${encodeURIComponent(`id="${id}"`)}`)
  for (const identity of [detail, listed]) {
    assert.equal(identity.isDefaultAdmin, false)
    // Objects, also before the first login: they are read without a check.
    assert.deepEqual([identity.envInfo, identity.sdkInfo], [{}, {}])
  }
  const envInfo = { os: 'Linux', arch: 'x86_64' }
  await service.call('/authenticate?method=password', {
    json: { username: 'admin', password: 'correct horse battery', envInfo },
  })
  const [own] = await admin.get(`/identities?filter=${encodeURIComponent('isAdmin=true')}`)
  assert.deepEqual(own.envInfo, envInfo)
})

test('`ziti edge list identities --role-filters` is refused, and not answered with all of them', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const { id } = await admin.createIdentity({ name: 'zoe', roleAttributes: ['sales'] })
  const refused = await admin.call('GET', '/identities?roleFilter=%23sales&roleSemantic=AnyOf')
  assertRefused(refused, 400, 'COULD_NOT_VALIDATE', 'roleFilter')
  const filter = encodeURIComponent('anyOf(roleAttributes) = "sales"')
  assert.match(refused.json().error.cause.reason, /anyOf\(roleAttributes\)/)
  const [found, ...others] = await admin.get(`/identities?filter=${filter}`)
  assert.deepEqual([found.id, others], [id, []])
  // Nothing is left out of a list that is empty anyway.
  assert.deepEqual(await admin.get('/services?roleFilter=%23sales'), [])
})

test('`ziti edge verify ca` signs a certificate for servers, with a P-521 key, that begins now', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  const id = await admin.createCa({ certPem: ca.pem })
  const { verificationToken } = await admin.get(`/cas/${id}`)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' })
  const { pem } = await openssl.makeLeaf(ca, {
    subject: `/O=Ziti CLI Generated Validation Cert/CN=${verificationToken}`,
    keyOf: { keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
    notBefore: 0 as never,
    extensions: [
      'basicConstraints=critical,CA:FALSE',
      'keyUsage=critical,digitalSignature,keyEncipherment',
      'extendedKeyUsage=serverAuth',
    ],
  })
  const verified = await admin.verifyCa(id, pem)
  assert.equal(verified.status, 200, verified.text)
})
