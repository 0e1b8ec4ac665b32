/**
 * Logins with a JWT of somebody else that succeed: how it is verified, and whom it names. SPEC Primary login; D-14,
 * D-25; API 4.5, R105.
 */
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { after, test } from 'node:test'
import { decodeJwt, SignJWT } from 'jose'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import { eventsOf } from '../../support/audit.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { newIdpKey, signJwt } from '../../support/idp/external-idp.ts'
import {
  AUDIENCE,
  bearers,
  inOneField,
  jwtLogin,
  logInByJwt,
  registerIdp,
  submitJwt,
  tokensOf,
} from '../../support/idp/jwt-login.ts'
import { APIS, ztSession } from '../../support/login/legacy.ts'
import { answerOf, bearer, beginLogin } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())

test('external JWTs that log in', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example/' })
  const zoe = await admin.createIdentity({ externalId: 'zoe@example.org' })

  await t.test(
    'API 4.5: by the key set of the signer, to the identity with that external id',
    async () => {
      const { access_token, claims } = await logInByJwt(service, await idp.jwt('zoe@example.org'))
      assert.equal(claims.sub, zoe.id)
      assert.deepEqual(claims['amr'], ['ext-jwt'], 'D-25')
      assert.equal(claims['cnf'], undefined)
      assert.equal(claims['z_ice'], false)
      assert.equal(claims['z_eid'], 'zoe@example.org')
      const session = await service.call(
        '/edge/client/v1/current-api-session',
        bearer(access_token),
      )
      assert.equal(session.json().data.authenticatorId, null)
      assert.deepEqual(session.json().data.amr, ['ext-jwt'])
    },
  )

  for (const alg of ['RS256', 'PS512', 'ES384', 'EdDSA']) {
    await t.test(`a token that is signed with ${alg} counts`, async (t) => {
      const issuer = `https://${alg.toLowerCase()}.example`
      const other = await registerIdp(t, service, admin, { issuer })
      const key = await newIdpKey('another', alg)
      other.server.keys = [key.jwk]
      const now = epochSeconds(service.clock.now())
      const claims = { iss: issuer, aud: AUDIENCE, sub: 'zoe@example.org', exp: now + 60 }
      const login = await logInByJwt(service, await signJwt(key, claims))
      assert.equal(login.claims.sub, zoe.id)
    })
  }

  await t.test('API 4.5: by the certificate of the signer, with its kid', async () => {
    const made = await openssl.makeCa({ subject: '/CN=A signer' })
    const issuer = 'urn:example:signer'
    await admin.createSigner({ issuer, certPem: made.pem, kid: 'their-kid' })
    const now = epochSeconds(service.clock.now())
    const token = (kid: string) =>
      new SignJWT({ iss: issuer, aud: AUDIENCE, sub: 'zoe@example.org', exp: now + 60 })
        .setProtectedHeader({ alg: 'ES256', kid })
        .sign(createPrivateKey(made.keyPem))
    assert.equal((await logInByJwt(service, await token('their-kid'))).claims.sub, zoe.id)
    const other = await jwtLogin(service, await token('another'))
    assert.equal(other.json().error.code, 'UNAUTHORIZED')
  })

  for (const [property, claims, useExternalId] of [
    ['email', { email: 'zoe@example.org' }, true],
    ['/sub', { sub: 'zoe@example.org' }, true],
    ['/realm/users/1/mail', { realm: { users: ['x', { mail: 'zoe@example.org' }] } }, true],
    ['https://example.org/id', { 'https://example.org/id': zoe.id }, false],
    ['/a~1b/~0c', { 'a/b': { '~c': zoe.id } }, false],
  ] as const) {
    await t.test(`API 4.5: the claim is found by ${property}`, async (t) => {
      const issuer = `https://idp.example/${encodeURIComponent(property)}`
      const changes = { issuer, claimsProperty: property, useExternalId }
      const other = await registerIdp(t, service, admin, changes)
      const login = await logInByJwt(service, await other.jwt('somebody else', claims))
      assert.equal(login.claims.sub, zoe.id)
    })
  }

  await t.test('API 4.5: an external id is not an id, nor the other way round', async (t) => {
    // Attack: somebody whose external id is the id of an administrator.
    const byId = await registerIdp(t, service, admin, {
      issuer: 'https://by-id.example',
      useExternalId: false,
    })
    const { id } = await admin.createIdentity({ externalId: String(decodeJwt(admin.token).sub) })
    assert.equal((await logInByJwt(service, await byId.jwt(id))).claims.sub, id)
    const adminId = String(decodeJwt(admin.token).sub)
    assert.equal((await logInByJwt(service, await idp.jwt(adminId))).claims.sub, id)
    assert.equal((await jwtLogin(service, await idp.jwt(zoe.id))).json().error.code, 'INVALID_AUTH')
    const other = await jwtLogin(service, await byId.jwt('zoe@example.org'))
    assert.equal(other.json().error.code, 'INVALID_AUTH')
  })

  await t.test('the audience may be one of several', async () => {
    const token = await idp.jwt('zoe@example.org', { aud: ['others', AUDIENCE] })
    assert.equal((await logInByJwt(service, token)).claims.sub, zoe.id)
  })

  await t.test(
    'SPEC Primary login: the id may come as JSON, in a form and in the query',
    async () => {
      const url = '/oidc/login/ext-jwt'
      const headers = { authorization: `Bearer ${await idp.jwt('zoe@example.org')}` }
      for (const post of [
        (id: string) => service.call(url, { headers, json: { authRequestId: id } }),
        (id: string) => service.call(url, { headers, form: [['authRequestId', id]] }),
        (id: string) => service.call(`${url}?authRequestID=${id}`, { headers, method: 'POST' }),
        (id: string) => service.call(url, { headers, json: { id, ...ADMIN } }),
      ]) {
        const begun = await beginLogin(service, { method: 'ext-jwt' })
        const { claims } = await tokensOf(service, begun, await post(begun.authRequestId))
        assert.equal(claims.sub, zoe.id)
      }
    },
  )

  await t.test('D-14: the token of a signer is found among others, in any form', async () => {
    const [theirs, junk] = [await idp.jwt('zoe@example.org'), await idp.jwt('x', { iss: 'x' })]
    for (const options of [
      bearers(theirs, junk),
      bearers(junk, theirs),
      bearers(junk, admin.token, theirs),
      inOneField(junk, theirs),
      inOneField(theirs, 'no-jwt'),
    ]) {
      const begun = await beginLogin(service)
      const { authRequestId } = begun
      const reply = await service.call('/oidc/login/ext-jwt', {
        ...options,
        json: { authRequestId },
      })
      assert.equal((await tokensOf(service, begun, reply)).claims.sub, zoe.id)
    }
  })

  await t.test('API 4.8: the login is recorded, without the token', async () => {
    const token = await idp.jwt('zoe@example.org')
    const reply = await jwtLogin(service, token)
    const [event, ...more] = await eventsOf(service, reply)
    assert.deepEqual(more, [])
    assert.equal(event?.type, 'login.succeeded')
    assert.equal(event.identityId, zoe.id)
    assert.equal(event.details.method, 'ext-jwt')
    assert.equal(JSON.stringify(event).includes(token), false)
    const log = JSON.stringify(service.log)
    for (const part of token.split('.')) assert.equal(log.includes(part), false)
  })

  for (const api of APIS) {
    for (const query of ['?method=ext-jwt', '']) {
      await t.test(`D-51: ${api}/authenticate${query} takes the token`, async () => {
        const options = { method: 'POST', ...bearer(await idp.jwt('zoe@example.org')) }
        const reply = await service.call(`${api}/authenticate${query}`, options)
        assert.equal(reply.status, 200, reply.text)
        const { data } = reply.json()
        assert.equal(data.identityId, zoe.id)
        assert.deepEqual(data.amr, ['ext-jwt'])
        assert.equal(data.authenticatorId, null)
        const call = await service.call(`${api}/current-identity`, ztSession(data.token))
        assert.equal(call.json().data.id, zoe.id, 'the session needs no JWT afterwards')
      })
    }
  }

  await t.test('D-51: a username in the body goes before the token', async () => {
    const options = { json: ADMIN, ...bearer(await idp.jwt('zoe@example.org')) }
    const reply = await service.call('/edge/client/v1/authenticate', options)
    assert.equal(reply.json().data.identityId, decodeJwt(admin.token).sub)
  })

  await t.test('one request is one login: a second token on it finds it finished', async () => {
    const { authRequestId } = await beginLogin(service)
    const token = await idp.jwt('zoe@example.org')
    assert.ok(answerOf(await submitJwt(service, authRequestId, token)).get('code'))
    const again = await submitJwt(service, authRequestId, token)
    assert.equal(again.status, 400)
    assert.equal(again.json().error.code, 'INVALID_AUTH_REQUEST')
  })
})
