/**
 * What clients do after the login, through two libraries as they come: refreshing, reading userinfo, introspecting,
 * revoking and logging out, each endpoint found by discovery. On both databases.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { logInOffline } from '../../support/login/refresh.ts'
import { ADMIN, type Service, type ServiceOptions, startService } from '../../support/service.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

const CLIENT_ID = 'service'
const BYE = 'http://127.0.0.1:9876/bye'

const DATABASES: Readonly<Record<string, () => Promise<ServiceOptions>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ config: { db: await migratedDatabase() } }),
}

/** The library understood the refusal. */
const isRefused = (error: unknown) =>
  error instanceof client.ResponseBodyError && error.error === 'invalid_grant'

for (const [database, options] of Object.entries(DATABASES)) {
  test(`client libraries after the login, on ${database}`, async (t) => {
    const service = await startService(t, await options())
    const issuer = new URL(`${service.baseUrl}/oidc`)
    const config = await client.discovery(issuer, CLIENT_ID, undefined, client.None(), {
      [client.customFetch]: service.client.fetch,
      execute: [client.enableNonRepudiationChecks],
    })

    await t.test('openid-client refreshes, and takes the new ID token', async () => {
      const first = await logInOffline(service)
      const second = await client.refreshTokenGrant(config, first.refresh_token)
      assert.equal(second.token_type, 'bearer')
      assert.ok(second.refresh_token)
      assert.equal(second.claims()?.sub, decodeJwt(first.id_token).sub)
      const third = await client.refreshTokenGrant(config, second.refresh_token, {
        scope: 'openid',
      })
      assert.equal(third.scope, 'openid')
      await assert.rejects(client.refreshTokenGrant(config, first.refresh_token), isRefused)
      await assert.rejects(client.refreshTokenGrant(config, third.refresh_token ?? ''), isRefused)
    })

    await t.test('openid-client reads userinfo of the subject it expects', async () => {
      const { access_token, id_token } = await logInOffline(service)
      const { sub } = decodeJwt(id_token)
      assert.ok(sub)
      const person = await client.fetchUserInfo(config, access_token, sub)
      assert.equal(person.preferred_username, ADMIN.username)
      await assert.rejects(client.fetchUserInfo(config, access_token, 'somebody else'))
      await assert.rejects(client.fetchUserInfo(config, `${access_token}x`, sub))
    })

    await t.test('openid-client revokes a refresh token, and the session is over', async () => {
      const tokens = await logInOffline(service)
      await client.tokenRevocation(config, tokens.refresh_token)
      assert.equal(await answerTo(service, tokens.access_token), INVALID)
      await assert.rejects(client.refreshTokenGrant(config, tokens.refresh_token), isRefused)
      await client.tokenRevocation(config, 'unknown')
    })

    await t.test('openid-client sends its user to log out, and back', async () => {
      const tokens = await logInOffline(service)
      const url = client.buildEndSessionUrl(config, {
        id_token_hint: tokens.id_token,
        post_logout_redirect_uri: BYE,
        state: 'a-state',
      })
      const reply = await service.client.call(url.href)
      assert.equal(reply.status, 302, reply.text)
      assert.equal(reply.headers.location, `${BYE}?state=a-state`)
      assert.equal(await answerTo(service, tokens.access_token), INVALID)
    })

    await t.test('oauth4webapi refreshes, introspects and revokes', () =>
      withOauth4webapi(service, issuer),
    )
  })
}

async function withOauth4webapi(service: Service, issuer: URL): Promise<void> {
  const own: oauth.Client = { client_id: CLIENT_ID }
  const fetching = { [oauth.customFetch]: service.client.fetch }
  const discovered = await oauth.discoveryRequest(issuer, fetching)
  const as = await oauth.processDiscoveryResponse(issuer, discovered)

  const first = await logInOffline(service)
  const response = await oauth.refreshTokenGrantRequest(
    as,
    own,
    oauth.None(),
    first.refresh_token,
    fetching,
  )
  const second = await oauth.processRefreshTokenResponse(as, own, response)
  await oauth.validateApplicationLevelSignature(as, response, fetching)
  assert.equal(oauth.getValidatedIdTokenClaims(second)?.sub, decodeJwt(first.id_token).sub)

  // RFC 7662 §2.1: the caller shows a bearer token of its own, an administrator's here.
  const withBearer: oauth.ClientAuth = (_as, _client, _body, headers) => {
    headers.set('authorization', `Bearer ${first.access_token}`)
  }
  const introspect = async (token: string) =>
    oauth.processIntrospectionResponse(
      as,
      own,
      await oauth.introspectionRequest(as, own, withBearer, token, fetching),
    )
  assert.equal((await introspect(second.access_token)).active, true)

  const revocation = await oauth.revocationRequest(
    as,
    own,
    oauth.None(),
    second.access_token,
    fetching,
  )
  await oauth.processRevocationResponse(revocation)
  assert.deepEqual(await introspect(second.access_token), { active: false })
  assert.equal((await introspect(second.refresh_token ?? '')).active, true)
}
