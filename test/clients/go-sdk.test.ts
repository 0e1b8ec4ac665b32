/** The unmodified Go SDK of OpenZiti against the compatibility layer: D-314. Needs Go; run by `npm run test:clients`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { registerCa } from '../support/certificates/certificate-login.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { buildGo, missing, runWith } from '../support/clients/toolchains.ts'
import { registerIdp } from '../support/idp/jwt-login.ts'
import { authenticatorApp, setUpApp, totpPolicy } from '../support/login/authenticator-app.ts'
import { OPENZITI } from '../support/login/openziti.ts'
import { administrateOpenZiti } from '../support/login/openziti-administrator.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'

const PASSWORD = 'a password of somebody'
const skip = await missing('go', 'version')

test('the Go SDK of OpenZiti works unmodified', { skip }, async (t) => {
  const program = await buildGo(fileURLToPath(new URL('./go', import.meta.url)))
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  const caId = await registerCa(admin, openssl, ca)
  const leaf = await openssl.makeLeaf(ca)
  await admin.createIdentity({ name: 'bob', certPem: leaf.pem })
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example/' })
  await admin.createIdentity({ name: 'carla', externalId: 'carla@example.org' })

  /** With `scan`, somebody scans what the program shows, and enters the code. */
  async function go(
    input: Readonly<Record<string, unknown>>,
    scan?: (provisioningUrl: string) => Promise<string>,
  ) {
    const all = { url: service.baseUrl, ca: service.ca, ...input }
    const ran = runWith(program, [], all, scan)
    const { code, printed, log } = await ran
    assert.equal(code, 0, log)
    return printed
  }

  const byPassword = { method: 'password', ...ADMIN }
  const byCertificate = { method: 'cert', cert: leaf.pem, key: leaf.keyPem }
  const logins = {
    password: { credential: byPassword, name: 'admin' },
    certificate: { credential: byCertificate, name: 'bob' },
    'external JWT': {
      credential: { method: 'ext-jwt', jwt: await idp.jwt('carla@example.org') },
      name: 'carla',
    },
  }
  for (const [how, { credential, name }] of Object.entries(logins)) {
    for (const oidc of [false, true]) {
      await t.test(`login by ${how}, ${oidc ? 'OIDC' : 'legacy'}`, async () => {
        const out = await go({ case: 'login', oidc, credential })
        assert.deepEqual([out.name, out.type, out.typeId], [name, 'Default', 'Default'])
        assert.match(out.session, oidc ? /Oidc/ : /Legacy/)
      })
    }
  }

  for (const oidc of [false, true]) {
    const kind = oidc ? 'OIDC' : 'legacy'
    await t.test(`three refreshes, ${kind}`, async () => {
      const out = await go({ case: 'refresh', oidc, credential: byPassword })
      assert.equal(out.name, 'admin')
    })
    await t.test(`a session certificate, ${kind}`, async () => {
      const out = await go({ case: 'session-certificate', oidc, credential: byPassword })
      assert.equal(out.ownKey, true)
    })
    await t.test(`management by the models, ${kind}`, async () => {
      const out = await go({ case: 'management', oidc, credential: byPassword })
      assert.deepEqual([out.type, out.jwt, out.renamed], ['Default', true, true])
      assert.ok(out.identities >= 4)
      assert.ok(out.policies >= 3 && out.sessions >= 1)
    })
  }

  await t.test('ziti.NewContext by password, which asks for services', async () => {
    assert.deepEqual(await go({ case: 'context', credential: byPassword }), {
      name: 'admin',
      services: 0,
    })
  })

  const withTotp = await totpPolicy(admin)
  const zoe = await admin.createIdentity({ name: 'zoe', password: PASSWORD, policy: withTotp })
  const { app } = await setUpApp(service, zoe)
  const withJwt = await admin.createPolicy({ secondary: { requireExtJwt: idp.id } })
  const dora = { name: 'dora', password: PASSWORD, externalId: 'dora@example.org' }
  await admin.createIdentity({ ...dora, policy: withJwt })
  for (const oidc of [false, true]) {
    const kind = oidc ? 'OIDC' : 'legacy'
    await t.test(`a TOTP code, ${kind}`, async () => {
      const credential = { method: 'password', username: 'zoe', password: PASSWORD }
      const out = await go({ case: 'login', oidc, credential, totpCode: app.nextCode() })
      assert.equal(out.name, 'zoe')
    })
    await t.test(`a second JWT, ${kind}`, async () => {
      const second = await idp.jwt('dora@example.org')
      const credential = { method: 'password', username: 'dora', password: PASSWORD, second }
      const out = await go({ case: 'login', oidc, credential })
      assert.equal(out.name, 'dora')
    })
  }

  await t.test('TOTP is set up inside the login, OIDC', async () => {
    await admin.createIdentity({ name: 'yara', password: PASSWORD, policy: withTotp })
    const credential = { method: 'password', username: 'yara', password: PASSWORD }
    const out = await go({ case: 'login', oidc: true, credential }, async (provisioningUrl) =>
      authenticatorApp(provisioningUrl, service.clock).code(),
    )
    assert.equal(out.name, 'yara')
  })

  const invite = async (name: string, enrollment: object): Promise<string> => {
    const created = await admin.call('POST', '/identities', {
      name,
      type: 'Device',
      isAdmin: false,
      enrollment,
    })
    assert.equal(created.status, 201, created.text)
    return (await admin.get(`/identities/${created.json().data.id}`)).enrollment[
      Object.keys(enrollment)[0] ?? ''
    ].jwt
  }

  await t.test('enrollment ott, and a context of the result', async () => {
    const out = await go({ case: 'enroll', jwt: await invite('by ott', { ott: true }) })
    assert.deepEqual(out, { name: 'by ott', services: 0 })
  })

  await t.test('enrollment updb', async () => {
    const credential = { username: 'erin', password: PASSWORD }
    const out = await go({
      case: 'enroll',
      jwt: await invite('erin', { updb: 'erin' }),
      credential,
    })
    assert.equal(out.name, 'erin')
  })

  await t.test('enrollments ottca and ca, with a certificate of a third-party CA', async (t) => {
    await admin.act('PATCH', `/cas/${caId}`, {
      isOttCaEnrollmentEnabled: true,
      isAutoCaEnrollmentEnabled: true,
    })
    const folder = await temporaryFolder(t)
    const own = await openssl.makeLeaf(ca, { subject: '/CN=fred' })
    const withToken = { case: 'enroll', folder, credential: { cert: own.pem, key: own.keyPem } }
    const out = await go({ ...withToken, jwt: await invite('fred', { ottca: caId }) })
    assert.equal(out.name, 'fred')

    const other = await openssl.makeLeaf(ca, { subject: '/CN=gina' })
    const jwt = (await admin.call('GET', `/cas/${caId}/jwt`)).text
    const auto = { case: 'enroll', folder, credential: { cert: other.pem, key: other.keyPem }, jwt }
    assert.match((await go(auto)).name, /gina$/)
  })
})
