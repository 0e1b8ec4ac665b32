/** Every way to log in, through `latchkey/client`: SPEC Primary login; docs/client.md. */
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import { connect, LoginRefused, UntrustedServer } from '../../../src/client/client.ts'
import { registerCa, shows } from '../../support/certificates/certificate-login.ts'
import { type Openssl, openOpenssl } from '../../support/certificates/openssl.ts'
import {
  asAdmin,
  connectTo,
  failureOf,
  whoIs,
  withPassword,
} from '../../support/client/client-sessions.ts'
import { registerIdp } from '../../support/idp/jwt-login.ts'
import { PASSWORD, setUpApp, totpPolicy } from '../../support/login/authenticator-app.ts'
import { OPENZITI } from '../../support/login/openziti.ts'
import { administrateOpenZiti } from '../../support/login/openziti-administrator.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

let openssl: Openssl
before(async () => {
  openssl = await openOpenssl()
})
after(() => openssl.close())

test('a password login ends in a session whose calls are taken', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)
  assert.equal(client.issuer, `${service.baseUrl}/oidc`)
  const session = await client.logIn(asAdmin)
  assert.equal(await whoIs(session), ADMIN.username)
  const claims = decodeJwt(await session.accessToken())
  assert.equal(session.id, claims['z_asid'])
  assert.equal(session.identityId, claims.sub)
  assert.equal(session.claims().preferred_username, ADMIN.username)
  assert.equal(decodeJwt(session.idToken())['sid'], session.id)
})

for (const idTokenAlgorithm of ['ES256', 'EdDSA']) {
  test(`an ID token that is signed with ${idTokenAlgorithm} is verified`, async (t) => {
    const service = await startService(t, { config: { edge: { oidc: { idTokenAlgorithm } } } })
    const session = await (await connectTo(service)).logIn(asAdmin)
    await session.refresh()
    assert.equal(session.claims().preferred_username, ADMIN.username)
  })
}

test('another brand is another client id', async (t) => {
  const service = await startService(t, { config: { edge: { brand: 'acme' } } })
  const session = await (await connectTo(service, { clientId: 'acme' })).logIn(asAdmin)
  assert.equal(await whoIs(session), ADMIN.username)
  await assert.rejects((await connectTo(service)).logIn(asAdmin), { code: 'invalid_client' })
})

test('a login at a server for clients of OpenZiti, which redirects once more before the code', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const client = await connectTo(service, { clientId: 'openziti' })
  assert.equal(await whoIs(await client.logIn(asAdmin)), ADMIN.username)

  const policy = await totpPolicy(admin)
  const zoe = await admin.createIdentity({ name: 'zoe', password: PASSWORD, policy })
  const { app } = await setUpApp(service, zoe)
  const session = await client.logIn(withPassword(zoe), { totp: () => app.nextCode() })
  assert.equal(await whoIs(session), 'zoe')
})

test('configuration types and scopes that are wished for are in the token', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)
  const configTypes = ['type-1', 'type-2']
  const session = await client.logIn(asAdmin, { configTypes, scopes: ['profile'] })
  const claims = decodeJwt(await session.accessToken())
  assert.deepEqual(claims['z_ct'], configTypes)
  assert.equal(claims['scope'], 'openid profile')
  assert.equal(session.save().refreshToken, undefined)
})

test('a certificate login shows its certificate, and so do the calls of its session', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  const leaf = await openssl.makeLeaf(ca)
  // API 4.4: tokens that are good only beside the certificate.
  const policy = await admin.createPolicy({
    primary: { cert: { allowed: true, bindTokens: true } },
  })
  const person = await admin.createIdentity({ certPem: leaf.pem, policy })
  const client = await connectTo(service)
  const session = await client.logIn({ method: 'cert', ...shows(leaf) })
  assert.equal(await whoIs(session), person.name)
  await session.refresh()
  assert.equal(await whoIs(session), person.name)

  const restored = client.restore(session.save(), { certificate: shows(leaf) })
  assert.equal(await whoIs(restored), person.name)
  const without = client.restore(session.save())
  await assert.rejects(without.call('/edge/client/v1/current-identity'), { code: 'invalid' })

  await assertRefused(client.logIn({ method: 'cert', ...shows(await openssl.makeLeaf(ca)) }))
})

test('a login with a JWT of a known signer', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example/' })
  const person = await admin.createIdentity({ externalId: 'alice' })
  const client = await connectTo(service)
  const session = await client.logIn({ method: 'ext-jwt', jwt: await idp.jwt('alice') })
  assert.equal(await whoIs(session), person.name)

  const refused = await assertRefused(
    client.logIn({ method: 'ext-jwt', jwt: await idp.expired('alice') }),
    'UNAUTHORIZED',
  )
  const [challenge] = refused.challenges
  assert.equal(challenge?.parameters.get('realm'), 'service-primary-ext-jwt')
  assert.equal(challenge?.parameters.get('id'), idp.id)
  // What is no JWT could be a password in the wrong place: it is neither sent nor repeated.
  await assert.rejects(client.logIn({ method: 'ext-jwt', jwt: 'hunter2\r\n' }), (error: Error) => {
    assert.ok(error instanceof TypeError)
    return !error.message.includes('hunter2')
  })
})

async function assertRefused(
  login: Promise<unknown>,
  code = 'INVALID_AUTH',
): Promise<LoginRefused> {
  const error = await failureOf(login, LoginRefused)
  assert.equal(error.code, code)
  assert.equal(error.status, 401)
  return error
}

test('a wrong password is refused with the code and the request id, and is not repeated', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)
  const secret = 'wrong horse battery'
  const error = await assertRefused(
    client.logIn({ method: 'password', username: 'admin', password: secret }),
  )
  const logged = service.log.some((line) => JSON.stringify(line).includes(error.requestId ?? '?'))
  assert.ok(logged, 'the log of the service has the request id')
  for (const text of [error.message, String(error.stack), JSON.stringify(error)]) {
    assert.equal(text.includes(secret), false)
  }
})

test('a server whose certificate leads to no trusted CA is not spoken to', async (t: TestContext) => {
  // R111. Attack: somebody answers in the place of the server.
  const service = await startService(t)
  await assert.rejects(connect({ url: service.baseUrl }), UntrustedServer)
  const other = await openssl.makeCa()
  await assert.rejects(connect({ url: service.baseUrl, ca: other.pem }), UntrustedServer)
})

test('an address that is not that of a server is a TypeError', async () => {
  for (const url of [
    'http://localhost:1',
    'https://localhost:1/oidc',
    'localhost:1',
    'https://u@h:1',
  ]) {
    await assert.rejects(connect({ url }), TypeError)
  }
})
