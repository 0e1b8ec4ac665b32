/**
 * Tokens of a real identity provider, which another library plays: somebody logs in there, with a client library of
 * its own, and with what he gets logs in here. SPEC Primary login, Authentication 5; API 4.5.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import {
  assertChallenged,
  bearers,
  jwtLogin,
  logInByJwt,
  primaryChallenge,
  secondaryChallenge,
  tokensOf,
} from '../../support/idp/jwt-login.ts'
import { API, APP, startRealIdp } from '../../support/idp/real-idp.ts'
import { beginLogin } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

for (const algorithm of ['RS256', 'ES256']) {
  test(`tokens of a real IdP that signs with ${algorithm}`, async (t) => {
    const service = await startService(t)
    const admin = await administrate(service)
    const idp = await startRealIdp(t, algorithm)
    const { issuer, jwksEndpoint, authorizationEndpoint } = idp
    const { id } = await admin.createIdentity({ externalId: 'zoe' })
    const { idToken, accessToken } = await idp.logIn('zoe')

    const signer = { issuer, jwksEndpoint, externalAuthUrl: authorizationEndpoint, clientId: APP }
    const forAccess = await admin.createSigner({ ...signer, audience: API })

    await t.test('a JWT access token logs in where the signer has its audience', async () => {
      assert.equal(decodeProtectedHeader(accessToken).typ, 'at+jwt')
      const { claims } = await logInByJwt(service, accessToken)
      assert.equal(claims.sub, id)
      assert.deepEqual(claims['amr'], ['ext-jwt'])
    })

    await t.test('an ID token for another client is refused', async () => {
      assert.equal(decodeJwt(idToken).aud, APP)
      const expected = primaryChallenge('invalid', { id: forAccess, issuer })
      assertChallenged(await jwtLogin(service, idToken), expected)
    })

    await t.test('a user whom only the IdP knows does not get in', async () => {
      const stranger = await idp.logIn('stranger')
      const reply = await jwtLogin(service, stranger.accessToken)
      assert.equal(reply.json().error.code, 'INVALID_AUTH')
    })

    await admin.act('DELETE', `/external-jwt-signers/${forAccess}`)
    const forId = await admin.createSigner({ ...signer, audience: APP, targetToken: 'ID' })

    await t.test(
      'where the signer has the client as its audience, the ID token logs in',
      async () => {
        assert.equal((await logInByJwt(service, idToken)).claims.sub, id)
        const expected = primaryChallenge('invalid', { id: forId, issuer })
        assertChallenged(await jwtLogin(service, accessToken), expected)
      },
    )

    await t.test(
      'the way of a client: blocked, told where to go, and back with the token',
      async () => {
        const policy = await admin.createPolicy({ secondary: { requireExtJwt: forId } })
        const person = await admin.createIdentity({ password: PASSWORD, externalId: 'bob', policy })
        const { username, password } = person
        const begun = await beginLogin(service)
        const json = { authRequestId: begun.authRequestId, username, password }
        const blocked = await service.call('/oidc/login/username', { json })
        assertChallenged(blocked, secondaryChallenge('missing', { id: forId, issuer }))
        const [query] = blocked.json().authQueries
        assert.equal(query.httpUrl, authorizationEndpoint)
        assert.equal(query.clientId, APP)

        const { idToken: bobs } = await idp.logIn('bob')
        const reply = await service.call('/oidc/login/username', { json, ...bearers(bobs) })
        const { access_token, claims } = await tokensOf(service, begun, reply)
        assert.equal(claims.sub, person.id)
        assert.deepEqual(claims['amr'], ['pwd', 'ext-jwt', 'mfa'])
        const call = await service.call(
          '/edge/client/v1/current-identity',
          bearers(access_token, bobs),
        )
        assert.equal(call.status, 200, call.text)
      },
    )
  })
}
