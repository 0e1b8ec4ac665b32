/**
 * A policy that demands an external JWT of somebody who also has an authenticator app, or that begins to demand it in
 * the middle of a login. SPEC Authentication 3 and 5; D-13, D-14, D-51, D-52.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertBlocked,
  assertChallenged,
  bearers,
  registerIdp,
  secondaryChallenge,
  tokensOf,
} from '../../support/idp/jwt-login.ts'
import { enrolledPerson, PASSWORD, submitCode } from '../../support/login/authenticator-app.ts'
import { NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { beginLogin } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { demand } from '../../support/policies.ts'
import { startService } from '../../support/service.ts'

test('a login that needs an external JWT and a TOTP code', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const second = await registerIdp(t, service, admin, { issuer: 'https://second.example' })
  service.clock.hold()
  const policy = await admin.createPolicy()
  const eve = await enrolledPerson(service, admin, { externalId: 'eve', policy })
  await demand(admin, policy, { requireExtJwt: second.id })
  const { username, password } = eve
  const extJwt = {
    typeId: 'EXT-JWT',
    provider: 'url',
    httpMethod: 'GET',
    httpUrl: '',
    id: second.id,
    issuer: second.issuer,
    clientId: '',
    scopes: [],
  }
  const totp = (httpUrl: string) => ({
    typeId: 'MFA',
    format: 'alphaNumeric',
    httpMethod: 'POST',
    httpUrl,
    minLength: 6,
    maxLength: 6,
    provider: 'service',
    isTotpEnrolled: true,
  })
  const submit = (authRequestId: string, ...tokens: string[]) =>
    service.call('/oidc/login/username', {
      json: { authRequestId, username, password },
      ...bearers(...tokens),
    })

  await t.test('D-14: without the token both are asked for, and nothing is proven', async () => {
    const { authRequestId } = await beginLogin(service)
    const reply = await submit(authRequestId)
    const queries = [totp('/oidc/login/totp'), extJwt]
    assertBlocked(reply, secondaryChallenge('missing', second), queries)
    assert.equal(reply.headers['totp-required'], 'true')
    const code = await submitCode(service, authRequestId, eve.app.nextCode())
    assertRefused(code, 400, 'INVALID_AUTH_REQUEST')
  })

  await t.test('with the token the code is asked for, and then the login is done', async () => {
    const begun = await beginLogin(service)
    const partial = await submit(begun.authRequestId, await second.jwt('eve'))
    assert.equal(partial.status, 200, partial.text)
    assert.deepEqual(partial.json(), { authQueries: [totp('/oidc/login/totp')] })
    assert.equal(partial.headers['totp-required'], 'true')
    assert.equal(partial.headers['www-authenticate'], undefined)
    const done = await submitCode(service, begun.authRequestId, eve.app.nextCode())
    const { claims } = await tokensOf(service, begun, done)
    assert.equal(claims.sub, eve.id)
    assert.deepEqual(claims['amr'], ['pwd', 'otp', 'ext-jwt', 'mfa'])
  })

  await t.test(
    'D-51: a legacy login asks for both, and its session for the token on every call',
    async () => {
      const url = `${CLIENT_API}/authenticate`
      const json = { username, password }
      const blocked = await service.call(url, { json })
      const queries = [totp('./authenticate/mfa'), extJwt]
      assertBlocked(blocked, secondaryChallenge('missing', second), queries)
      assert.equal(blocked.headers['totp-required'], 'true')

      const along = bearers(await second.jwt('eve'))
      const partial = await service.call(url, { json, ...along })
      assert.equal(partial.status, 200, partial.text)
      assert.deepEqual(partial.json().data.authQueries, [totp('./authenticate/mfa')])
      const headers = { 'zt-session': partial.json().data.token }
      const withToken = { headers: { ...headers, ...along.headers } }
      const identity = `${CLIENT_API}/current-identity`

      const neither = await service.call(identity, { headers })
      assertBlocked(neither, secondaryChallenge('missing', second), queries)
      assert.equal(neither.headers['totp-required'], 'true')
      const noCode = await service.call(identity, withToken)
      assertBlocked(noCode, NO_SUCH_SESSION, [totp('./authenticate/mfa')])
      assert.equal(noCode.headers['totp-required'], 'true')

      const code = { code: eve.app.nextCode() }
      const noToken = await service.call(`${url}/mfa`, { json: code, headers })
      assertChallenged(noToken, secondaryChallenge('missing', second))
      const proven = await service.call(`${url}/mfa`, { json: code, ...withToken })
      assert.equal(proven.status, 200, proven.text)
      assert.equal((await service.call(identity, withToken)).status, 200)
    },
  )

  await t.test('an identity that is disabled in the middle does not get further', async () => {
    const begun = await beginLogin(service)
    const partial = await submit(begun.authRequestId, await second.jwt('eve'))
    assert.equal(partial.status, 200, partial.text)
    await admin.act('POST', `/identities/${eve.id}/disable`, { durationMinutes: 0 })
    const code = await submitCode(service, begun.authRequestId, eve.app.nextCode())
    assertRefused(code, 400, 'INVALID_AUTH_REQUEST')
    assertRefused(await submit(begun.authRequestId, await second.jwt('eve')), 401, 'INVALID_AUTH')

    // D-226: earlier proofs are void; new ones count.
    await admin.act('POST', `/identities/${eve.id}/enable`)
    const late = await submitCode(service, begun.authRequestId, eve.app.nextCode())
    assertRefused(late, 400, 'INVALID_AUTH_REQUEST')
    const anew = await submit(begun.authRequestId, await second.jwt('eve'))
    assert.equal(anew.status, 200, anew.text)
    const again = await submitCode(service, begun.authRequestId, eve.app.nextCode())
    assert.equal((await tokensOf(service, begun, again)).claims.sub, eve.id)
  })

  await t.test(
    'a policy that begins to demand the token in the middle blocks the last step',
    async () => {
      const late = await admin.createPolicy()
      const fay = await enrolledPerson(service, admin, { externalId: 'fay', policy: late })
      const begun = await beginLogin(service)
      const json = {
        authRequestId: begun.authRequestId,
        username: fay.username,
        password: fay.password,
      }
      assert.equal((await service.call('/oidc/login/username', { json })).status, 200)
      await demand(admin, late, { requireExtJwt: second.id })
      const blocked = await submitCode(service, begun.authRequestId, fay.app.nextCode())
      assertChallenged(blocked, secondaryChallenge('missing', second))
      // D-13: what she proved stays; the primary login is repeated with the token.
      const along = bearers(await second.jwt('fay'))
      const done = await service.call('/oidc/login/username', { json, ...along })
      const { claims } = await tokensOf(service, begun, done)
      assert.deepEqual(claims['amr'], ['pwd', 'otp', 'ext-jwt', 'mfa'])
      assert.equal(claims.sub, fay.id)
    },
  )

  await t.test(
    'a policy that begins to demand it before the exchange makes the code invalid',
    async () => {
      const late = await admin.createPolicy()
      const gus = await admin.createIdentity({
        externalId: 'gus',
        password: PASSWORD,
        policy: late,
      })
      const begun = await beginLogin(service)
      const json = {
        authRequestId: begun.authRequestId,
        username: gus.username,
        password: PASSWORD,
      }
      const code = new URL(
        (await service.call('/oidc/login/username', { json })).headers.location ?? '',
      ).searchParams.get('code')
      await demand(admin, late, { requireExtJwt: second.id })
      const form = {
        grant_type: 'authorization_code',
        client_id: 'service',
        code: code ?? '',
        code_verifier: begun.verifier,
        redirect_uri: 'http://127.0.0.1:9876/callback',
      }
      const reply = await service.call('/oidc/token', { form: Object.entries(form) })
      assert.equal(reply.status, 400, reply.text)
      assert.equal(reply.json().error, 'invalid_grant')
    },
  )
})
