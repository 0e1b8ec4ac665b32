/**
 * DPoP (RFC 9449) through two client libraries as they come: the whole login with `dpop_jkt`, a call, a refresh, and
 * what each does when the server asks for a nonce. On both databases.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { ADMIN, type Service, type ServiceOptions, startService } from '../../support/service.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

const REDIRECT_URI = 'http://127.0.0.1:9876/callback'
const CLIENT_ID = 'service'
const RESOURCE = '/edge/client/v1/current-identity'

const DATABASES: Readonly<Record<string, () => Promise<ServiceOptions>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ config: { db: await migratedDatabase() } }),
}

for (const [database, options] of Object.entries(DATABASES)) {
  test(`client libraries bind their tokens to a key, on ${database}`, async (t) => {
    const service = await startService(t, await options())
    const issuer = new URL(`${service.baseUrl}/oidc`)
    for (const algorithm of ['ES256', 'Ed25519', 'RS256', 'PS256']) {
      await t.test(`openid-client, with ${algorithm}`, () =>
        withOpenidClient(service, issuer, algorithm),
      )
    }
    await t.test('oauth4webapi', () => withOauth4webapi(service, issuer))
  })
}

/** Follows the authorization URL as a program does, and answers where the client is sent back to. */
async function logInAt(service: Service, authorizationUrl: URL): Promise<URL> {
  const begun = await service.client.call(authorizationUrl.href)
  assert.equal(begun.status, 302, begun.text)
  const loginUrl = new URL(begun.headers.location ?? '', authorizationUrl)
  const finished = await service.client.call(loginUrl.href, { json: ADMIN })
  assert.equal(finished.status, 302, finished.text)
  return new URL(finished.headers.location ?? '')
}

async function withOpenidClient(service: Service, issuer: URL, algorithm: string): Promise<void> {
  const config = await client.discovery(issuer, CLIENT_ID, undefined, client.None(), {
    [client.customFetch]: service.client.fetch,
  })
  const keyPair = await client.randomDPoPKeyPair(algorithm)
  const DPoP = client.getDPoPHandle(config, keyPair)
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const url = await client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid offline_access',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    dpop_jkt: await DPoP.calculateThumbprint(),
  })
  const callback = await logInAt(service, url)
  const tokens = await client.authorizationCodeGrant(
    config,
    callback,
    { pkceCodeVerifier, idTokenExpected: true },
    undefined,
    { DPoP },
  )
  assert.equal(tokens.token_type, 'dpop')
  assert.deepEqual(decodeJwt(tokens.access_token)['cnf'], { jkt: await DPoP.calculateThumbprint() })
  const resource = new URL(`${service.baseUrl}${RESOURCE}`)
  for (let calls = 0; calls < 2; calls++) {
    const reply = await client.fetchProtectedResource(
      config,
      tokens.access_token,
      resource,
      'GET',
      undefined,
      undefined,
      { DPoP },
    )
    assert.equal(reply.status, 200, await reply.text())
  }
  const person = await client.fetchUserInfo(config, tokens.access_token, client.skipSubjectCheck, {
    DPoP,
  })
  assert.equal(person.preferred_username, ADMIN.username)
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, {
    DPoP,
  })
  assert.equal(refreshed.token_type, 'dpop')
  await assert.rejects(client.refreshTokenGrant(config, refreshed.refresh_token ?? ''), {
    error: 'invalid_dpop_proof',
  })
}

async function withOauth4webapi(service: Service, issuer: URL): Promise<void> {
  const own: oauth.Client = { client_id: CLIENT_ID }
  const fetching = { [oauth.customFetch]: service.client.fetch }
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, fetching),
  )
  const DPoP = oauth.DPoP(own, await oauth.generateKeyPair('ES256'))
  const verifier = oauth.generateRandomCodeVerifier()
  const url = new URL(as.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid offline_access',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    dpop_jkt: await DPoP.calculateThumbprint(),
  }).toString()
  const parameters = oauth.validateAuthResponse(as, own, await logInAt(service, url))
  const exchange = () =>
    oauth.authorizationCodeGrantRequest(as, own, oauth.None(), parameters, REDIRECT_URI, verifier, {
      ...fetching,
      DPoP,
    })
  const tokens = await again(exchange, (response) =>
    oauth.processAuthorizationCodeResponse(as, own, response, { requireIdToken: true }),
  )
  assert.equal(tokens.token_type, 'dpop')
  const resource = new URL(`${service.baseUrl}${RESOURCE}`)
  service.clock.advance((5 * 60_000) as never)
  const { status } = await again(
    () =>
      oauth.protectedResourceRequest(
        tokens.access_token,
        'GET',
        resource,
        new Headers(),
        undefined,
        { ...fetching, DPoP },
      ),
    async (response) => response,
  )
  assert.equal(status, 200)
  const refreshed = await again(
    () =>
      oauth.refreshTokenGrantRequest(as, own, oauth.None(), tokens.refresh_token ?? '', {
        ...fetching,
        DPoP,
      }),
    (response) => oauth.processRefreshTokenResponse(as, own, response),
  )
  assert.equal(refreshed.token_type, 'dpop')
}

/** As the documentation of oauth4webapi says: the request is repeated with the nonce that it has kept. */
async function again<T>(
  request: () => Promise<Response>,
  process: (response: Response) => Promise<T>,
): Promise<T> {
  try {
    return await process(await request())
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error
    return process(await request())
  }
}
