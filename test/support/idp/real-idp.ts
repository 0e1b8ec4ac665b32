/**
 * An IdP that is not ours: the library `oidc-provider` on plain http of this machine, with a client that another
 * library plays. Whoever comes logs in as the person that the test chose, or says so on a page of the IdP; it issues ID
 * tokens and JWT access tokens.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import * as client from 'openid-client'
import { freePort, listenUntilEnd } from '../ports.ts'

/** What the API that access tokens are for is called; the audience of those tokens. */
export const API = 'https://latchkey.example/api'
/** The client of the IdP; the audience of its ID tokens. */
export const APP = 'an-app'
const CALLBACK = 'http://127.0.0.1:9/callback'
const SCOPE = 'openid api'
const MOST_STEPS = 10

export interface RealIdp {
  readonly issuer: string
  readonly jwksEndpoint: string
  readonly authorizationEndpoint: string
  /** What the IdP gives somebody who logs in there. */
  logIn(accountId: string): Promise<{ readonly idToken: string; readonly accessToken: string }>
}

export interface RealIdpOptions {
  /** Where people are sent back to, besides the client that the test plays. */
  readonly redirectUris?: readonly string[]
  /** People see a page that asks who they are, and can say no. */
  readonly hasPages?: boolean
}

export async function startRealIdp(
  t: TestContext,
  algorithm = 'RS256',
  { redirectUris = [], hasPages = false }: RealIdpOptions = {},
): Promise<RealIdp> {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), alg: algorithm, use: 'sig' }
  const provider = new Provider(issuer, configuration(jwk, algorithm, redirectUris))
  let accountId = ''
  const answer = provider.callback()
  const server = createServer((request, response) => {
    // What a person would do at the login page of the IdP.
    const isLogin = request.url?.startsWith('/interaction/') === true
    const login = { login: { accountId } }
    if (!isLogin) void answer(request, response)
    else if (!hasPages) void provider.interactionFinished(request, response, login)
    else if (request.method === 'GET') response.setHeader('content-type', 'text/html').end(PAGE)
    else {
      void text(request).then((body) => {
        const account = new URLSearchParams(body).get('account')
        const said = account ? { login: { accountId: account } } : { error: 'access_denied' }
        return provider.interactionFinished(request, response, said)
      })
    }
  })
  await listenUntilEnd(t, server, { port })

  const app = await client.discovery(new URL(issuer), APP, undefined, client.None(), {
    execute: [client.allowInsecureRequests],
  })
  const { jwks_uri, authorization_endpoint } = app.serverMetadata()
  return {
    issuer,
    jwksEndpoint: jwks_uri ?? '',
    authorizationEndpoint: authorization_endpoint ?? '',
    async logIn(who) {
      accountId = who
      const pkceCodeVerifier = client.randomPKCECodeVerifier()
      const url = client.buildAuthorizationUrl(app, {
        redirect_uri: CALLBACK,
        scope: SCOPE,
        resource: API,
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      })
      const back = await follow(url)
      const tokens = await client.authorizationCodeGrant(app, back, { pkceCodeVerifier })
      assert.ok(tokens.id_token)
      return { idToken: tokens.id_token, accessToken: tokens.access_token }
    },
  }
}

/** What a person sees there. */
const PAGE = `<!doctype html><html lang="en"><title>The IdP</title><link rel="icon" href="data:,">
<h1>The IdP</h1>
<form method="post"><label>Account <input name="account" autofocus></label>
<button>Log in here</button></form>
<form method="post"><button>Cancel</button></form>`

function configuration(jwk: object, algorithm: string, redirectUris: readonly string[]): object {
  return {
    clients: [
      {
        client_id: APP,
        redirect_uris: [CALLBACK, ...redirectUris],
        token_endpoint_auth_method: 'none',
        id_token_signed_response_alg: algorithm,
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['a key of cookies'] },
    scopes: SCOPE.split(' '),
    ttl: { AccessToken: 600, IdToken: 600, Grant: 600, Session: 600, Interaction: 600 },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: async () => ({ sub }) }),
    loadExistingGrant: grantEverything,
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'api',
          audience: API,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: algorithm } },
        }),
        useGrantedResource: () => true,
      },
    },
  }
}

/** Nobody is asked for consent. */
async function grantEverything({
  oidc: { provider, client, session },
}: {
  readonly oidc: {
    readonly provider: Provider
    readonly client: { readonly clientId: string }
    readonly session: { readonly accountId: string }
  }
}) {
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId })
  grant.addOIDCScope(SCOPE)
  grant.addResourceScope(API, 'api')
  await grant.save()
  return grant
}

/** A browser with cookies, from the authorization to the address that it is sent back to. */
async function follow(start: URL): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = start
  for (let steps = 0; !url.href.startsWith(CALLBACK); steps++) {
    assert.ok(steps < MOST_STEPS, `the IdP goes round in circles at ${url}`)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    const location = response.headers.get('location')
    assert.ok(location, `${response.status} ${await response.text()}`)
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    url = new URL(location, url)
  }
  return url
}
