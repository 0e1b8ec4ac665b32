/**
 * The small OpenID Connect provider of the demo: discovery, keys, an authorization endpoint with a page, a token
 * endpoint with PKCE. It checks no password, so it exists only here (D-171): it listens only on 127.0.0.1, its key is
 * created at the start and never stored, and only the database of the demo knows it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { base64url } from '../../base/encoding.ts'
import { type FormFields, parseForm } from '../../base/form.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { epochSeconds, type Instant } from '../../base/time/instant.ts'
import { verifierMatches } from '../../protocol/pkce.ts'
import { contentSecurityPolicy } from '../../web/login/content-security-policy.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import { type LoopbackServer, openLoopback } from '../loopback-server.ts'
import { type RegisteredClient, readAuthorization } from './authorization.ts'
import { createCodes } from './codes.ts'
import { choicePage, refusedPage, STRANGER } from './pages.ts'

export interface Idp extends Pick<LoopbackServer, 'stop'> {
  readonly issuer: string
}

const ALGORITHM = 'ES256'
const LIFETIME_SECONDS = 3_600
const LARGEST_BODY = 16 * 1024

export async function startIdp(
  client: RegisteredClient,
  deps: { readonly people: readonly string[]; readonly clock: Clock; readonly random: Random },
): Promise<Idp> {
  const { people, clock, random } = deps
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM)
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const keys = [{ ...jwk, kid, use: 'sig', alg: ALGORITHM }]
  const accounts = [...people, STRANGER]
  const codes = createCodes(clock, random)

  /** OIDC Core §2 requires `auth_time` for clients that ask for `max_age`; this IdP always includes it. */
  function signFor(account: string, at: Instant, nonce?: string): Promise<string> {
    const now = epochSeconds(clock.now())
    return new SignJWT({ nonce, auth_time: epochSeconds(at) })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
      .setIssuer(server.origin)
      .setSubject(account)
      .setAudience(client.clientId)
      .setIssuedAt(now)
      .setExpirationTime(now + LIFETIME_SECONDS)
      .sign(privateKey)
  }

  /** The first request shows the page; the form of the page comes back with an answer. */
  function authorize(response: ServerResponse, fields: FormFields, isForm: boolean): void {
    const read = readAuthorization(fields, client)
    if (read.is === 'refused') {
      sendPage(response, 400, refusedPage(read.why))
      return
    }
    if (read.is === 'returned') {
      sendBack(response, read.redirectUri, { ...read.answer, iss: server.origin })
      return
    }
    const { redirectUri, codeChallenge, state, nonce } = read.asked
    if (!isForm) {
      sendPage(response, 200, choicePage(accounts, fields), LEADS_TO)
      return
    }
    const answer = { ...(state === undefined ? {} : { state }), iss: server.origin }
    const [account = '', ...others] = fields.get('account') ?? []
    if (fields.has('cancel') || others.length > 0 || !accounts.includes(account)) {
      sendBack(response, redirectUri, { error: 'access_denied', ...answer })
      return
    }
    const code = codes.issue({ account, redirectUri, codeChallenge, nonce, at: clock.now() })
    sendBack(response, redirectUri, { code, ...answer })
  }

  async function exchange(response: ServerResponse, fields: FormFields | undefined): Promise<void> {
    const refuse = (status: number, error: string) => sendJson(response, status, { error })
    const values = [...(fields?.values() ?? [])]
    if (fields === undefined || values.some((given) => given.length > 1)) {
      return refuse(400, 'invalid_request')
    }
    const one = (name: string) => fields.get(name)?.[0] ?? ''
    if (one('grant_type') !== 'authorization_code') return refuse(400, 'unsupported_grant_type')
    if (one('client_id') !== client.clientId) return refuse(401, 'invalid_client')
    // The first request that names it spends it, even if the rest is wrong.
    const approved = codes.take(one('code'))
    if (
      approved === undefined ||
      approved.redirectUri !== one('redirect_uri') ||
      !verifierMatches(one('code_verifier'), approved.codeChallenge)
    ) {
      return refuse(400, 'invalid_grant')
    }
    sendJson(response, 200, {
      // OAuth requires one, although it grants nothing here.
      access_token: base64url(random.bytes(32)),
      token_type: 'Bearer',
      expires_in: LIFETIME_SECONDS,
      id_token: await signFor(approved.account, approved.at, approved.nonce),
    })
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '/', server.origin)
    const [, account] = /^\/people\/([a-z]+)\/jwt$/.exec(pathname) ?? []
    switch (`${request.method} ${account === undefined ? pathname : 'jwt'}`) {
      case 'GET /.well-known/openid-configuration':
        return sendJson(response, 200, discoveryOf(server.origin))
      case 'GET /keys':
        return sendJson(response, 200, { keys })
      case 'GET /authorize':
        return authorize(response, parseForm(search.slice(1)) ?? NOTHING, false)
      case 'POST /authorize':
        return authorize(response, (await formOf(request)) ?? NOTHING, true)
      case 'POST /token':
        return exchange(response, await formOf(request))
      case 'POST jwt':
        // For curl: the token that a program would get with its own login.
        if (!accounts.includes(account ?? '')) return sendJson(response, 404, NOT_FOUND)
        response.writeHead(200, { ...ALWAYS, 'content-type': 'text/plain' })
        response.end(`${await signFor(account ?? '', clock.now())}\n`)
        return
      default:
        return sendJson(response, 404, NOT_FOUND)
    }
  }

  const server = await openLoopback(answer)
  return { issuer: server.origin, stop: server.stop }
}

/**
 * Chromium applies the policy to every redirect after a form: to the service, and from there to the client that began
 * the login, which is on this machine (D-8).
 */
const LEADS_TO = ['http', 'https'].flatMap((scheme) =>
  ['localhost', '127.0.0.1'].map((host) => `${scheme}://${host}:*`),
)

const NOTHING: FormFields = new Map()

const NOT_FOUND = { error: 'not_found' }

const ALWAYS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

function discoveryOf(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code'],
    subject_types_supported: ['public'],
    scopes_supported: ['openid'],
    id_token_signing_alg_values_supported: [ALGORITHM],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  }
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { ...ALWAYS, 'content-type': 'application/json' })
  response.end(`${JSON.stringify(value)}\n`)
}

/** `leadsTo`: where its form may finally redirect to. */
function sendPage(
  response: ServerResponse,
  status: number,
  page: SafeHtml,
  leadsTo?: readonly string[],
): void {
  const policy = contentSecurityPolicy(leadsTo === undefined ? {} : { formAction: leadsTo })
  response.writeHead(status, {
    ...ALWAYS,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
  })
  response.end(page.toString())
}

function sendBack(
  response: ServerResponse,
  redirectUri: string,
  answer: Readonly<Record<string, string>>,
): void {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  response.writeHead(303, { ...ALWAYS, location: url.href }).end()
}

/** Undefined if it is too long, or not a form. */
async function formOf(request: IncomingMessage): Promise<FormFields | undefined> {
  const [type] = (request.headers['content-type'] ?? '').split(';')
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    if (text.length <= LARGEST_BODY) text += chunk
  }
  const isForm = type?.trim().toLowerCase() === 'application/x-www-form-urlencoded'
  return isForm && text.length <= LARGEST_BODY ? parseForm(text) : undefined
}
