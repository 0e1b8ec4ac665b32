/**
 * The whole login through two client libraries, as they come and as strict as they can be: discovery from the issuer
 * URL, PKCE, state, nonce, `iss`, and ID tokens checked with the published keys. Nothing is told to them but the
 * issuer and the client id; what a person would do at the login page is done in between. On both databases.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { ADMIN, type Service, type ServiceOptions, startService } from '../../support/service.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

const REDIRECT_URI = 'http://127.0.0.1:9876/callback'
const CLIENT_ID = 'service'
const RESOURCE = '/edge/client/v1/current-identity'

const DATABASES: Readonly<Record<string, () => Promise<ServiceOptions>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ config: { db: await migratedDatabase() } }),
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

for (const [database, options] of Object.entries(DATABASES)) {
  test(`client libraries against a service on ${database}`, async (t) => {
    const service = await startService(t, await options())
    const issuer = new URL(`${service.baseUrl}/oidc`)

    for (const algorithm of ['oidc', 'oauth2'] as const) {
      await t.test(`openid-client goes through the whole login, ${algorithm} discovery`, () =>
        withOpenidClient(service, issuer, algorithm),
      )
    }
    await t.test('openid-client refuses an answer to another request', () =>
      refusedByOpenidClient(service, issuer),
    )
    for (const algorithm of ['oidc', 'oauth2'] as const) {
      await t.test(`oauth4webapi goes through the whole login, ${algorithm} discovery`, () =>
        withOauth4webapi(service, issuer, algorithm),
      )
    }
    await t.test('oauth4webapi takes the access token as one of RFC 9068', () =>
      validatedAccessToken(service, issuer),
    )
    await t.test('oauth4webapi understands a refused code', () => refusedCode(service, issuer))
  })
}

for (const algorithm of ['ES256', 'RS256', 'EdDSA']) {
  test(`client libraries check ID tokens signed with ${algorithm}`, async (t: TestContext) => {
    const oidc = { signingAlgorithm: algorithm, idTokenAlgorithm: algorithm }
    const service = await startService(t, { config: { edge: { oidc } } })
    const issuer = new URL(`${service.baseUrl}/oidc`)
    await withOpenidClient(service, issuer, 'oidc')
    await withOauth4webapi(service, issuer, 'oidc')
    await validatedAccessToken(service, issuer)
  })
}

type Discovery = 'oidc' | 'oauth2'

async function discoverWithOpenidClient(service: Service, issuer: URL, algorithm: Discovery) {
  return client.discovery(issuer, CLIENT_ID, undefined, client.None(), {
    algorithm,
    [client.customFetch]: service.client.fetch,
    // Not only TLS but the signature of the ID token, with the keys that the library fetches.
    execute: [client.enableNonRepudiationChecks],
  })
}

async function beginWithOpenidClient(config: client.Configuration) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const checks = {
    pkceCodeVerifier,
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
    idTokenExpected: true,
  }
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid profile',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
  })
  return { checks, url }
}

async function withOpenidClient(service: Service, issuer: URL, algorithm: Discovery) {
  const config = await discoverWithOpenidClient(service, issuer, algorithm)
  const metadata = config.serverMetadata()
  assert.equal(metadata.issuer, issuer.href)
  assert.equal(metadata.supportsPKCE(), true)
  const { checks, url } = await beginWithOpenidClient(config)
  const callback = await logInAt(service, url)
  const tokens = await client.authorizationCodeGrant(config, callback, checks)

  assert.equal(tokens.token_type, 'bearer')
  assert.ok((tokens.expiresIn() ?? 0) > 1_700)
  const claims = tokens.claims()
  assert.ok(claims)
  assert.equal(claims['preferred_username'], ADMIN.username)
  assert.notEqual(client.getJwksCache(config), undefined, 'the keys were fetched')
  const resource = new URL(`${service.baseUrl}${RESOURCE}`)
  const reply = await client.fetchProtectedResource(config, tokens.access_token, resource, 'GET')
  assert.equal(reply.status, 200)
  const { data } = (await reply.json()) as { data: { id: string } }
  assert.equal(data.id, claims.sub)
}

async function refusedByOpenidClient(service: Service, issuer: URL) {
  const config = await discoverWithOpenidClient(service, issuer, 'oidc')
  const { checks, url } = await beginWithOpenidClient(config)
  const callback = await logInAt(service, url)
  const other = { ...checks, expectedState: client.randomState() }
  const refusal = { code: 'OAUTH_INVALID_RESPONSE' }
  await assert.rejects(() => client.authorizationCodeGrant(config, callback, other), refusal)
  const mixedUp = new URL(callback)
  mixedUp.searchParams.set('iss', 'https://idp.example/')
  await assert.rejects(() => client.authorizationCodeGrant(config, mixedUp, checks), refusal)
  await client.authorizationCodeGrant(config, callback, checks)
}

const CLIENT: oauth.Client = { client_id: CLIENT_ID }

async function discoverWithOauth4webapi(service: Service, issuer: URL, algorithm: Discovery) {
  const options = { algorithm, [oauth.customFetch]: service.client.fetch }
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options))
}

/** From discovery to the callback parameters, validated against state and issuer. */
async function logInWithOauth4webapi(service: Service, issuer: URL, algorithm: Discovery) {
  const as = await discoverWithOauth4webapi(service, issuer, algorithm)
  const verifier = oauth.generateRandomCodeVerifier()
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
  const url = new URL(as.authorization_endpoint ?? '')
  const parameters = {
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const callback = await logInAt(service, url)
  return {
    as,
    nonce,
    exchange: (codeVerifier = verifier) =>
      oauth.authorizationCodeGrantRequest(
        as,
        CLIENT,
        oauth.None(),
        oauth.validateAuthResponse(as, CLIENT, callback, state),
        REDIRECT_URI,
        codeVerifier,
        { [oauth.customFetch]: service.client.fetch },
      ),
  }
}

async function withOauth4webapi(service: Service, issuer: URL, algorithm: Discovery) {
  const { as, nonce, exchange } = await logInWithOauth4webapi(service, issuer, algorithm)
  assert.equal(as.authorization_response_iss_parameter_supported, true)
  const response = await exchange()
  const result = await oauth.processAuthorizationCodeResponse(as, CLIENT, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(as, response, {
    [oauth.customFetch]: service.client.fetch,
  })
  const claims = oauth.getValidatedIdTokenClaims(result)
  assert.ok(claims)
  const resource = new URL(`${service.baseUrl}${RESOURCE}`)
  const reply = await oauth.protectedResourceRequest(
    result.access_token,
    'GET',
    resource,
    undefined,
    null,
    { [oauth.customFetch]: service.client.fetch },
  )
  assert.equal(reply.status, 200)
  const { data } = (await reply.json()) as { data: { id: string } }
  assert.equal(data.id, claims.sub)
}

async function validatedAccessToken(service: Service, issuer: URL) {
  const { as, exchange } = await logInWithOauth4webapi(service, issuer, 'oidc')
  const { access_token } = (await (await exchange()).json()) as { access_token: string }
  const headers = { authorization: `Bearer ${access_token}` }
  const request = new Request(`${service.baseUrl}${RESOURCE}`, { headers })
  const claims = await oauth.validateJwtAccessToken(as, request, CLIENT_ID, {
    [oauth.customFetch]: service.client.fetch,
    signingAlgorithms: ['ES256', 'RS256', 'EdDSA'],
  })
  assert.equal(claims.client_id, CLIENT_ID)
  assert.equal(claims['z_t'], 'a')
}

async function refusedCode(service: Service, issuer: URL) {
  const { as, exchange } = await logInWithOauth4webapi(service, issuer, 'oidc')
  const response = await exchange(oauth.generateRandomCodeVerifier())
  const error = await oauth.processAuthorizationCodeResponse(as, CLIENT, response).then(
    () => assert.fail('the code is refused'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof oauth.ResponseBodyError)
  assert.equal(error.error, 'invalid_grant')
  assert.equal(error.status, 400)
}
