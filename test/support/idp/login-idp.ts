/**
 * An IdP whose every answer a test decides, for logins that go through one: discovery, keys and a token endpoint on plain
 * http of this machine. Who wants pages takes the real one (real-idp.ts).
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import type { Administrator } from '../management.ts'
import { listenUntilEnd } from '../ports.ts'
import type { Service } from '../service.ts'
import { type IdpKey, newIdpKey, signJwt } from './external-idp.ts'
import { AUDIENCE } from './jwt-login.ts'

type Fields = Readonly<Record<string, unknown>>

/** The client that the service is at the IdP. */
export const CLIENT_ID = 'latchkey-at-the-idp'

export interface LoginIdp {
  readonly issuer: string
  readonly key: IdpKey
  /** The discovery document; a test may change it. */
  document: Record<string, unknown>
  /** How often the document was asked for. */
  discoveries: number
  /** Every form that came to the token endpoint. */
  readonly redeemed: readonly URLSearchParams[]
  /** What the token endpoint answers instead of tokens; undefined: tokens. */
  answer: ((response: ServerResponse, form: URLSearchParams) => void | Promise<void>) | undefined
  /** What a real browser that comes to the IdP is sent back with at once; undefined: there is no such page. */
  sendBack: ((asked: URL) => Fields) | undefined
  /** A person has logged in there: the code that the browser takes back. `changes` go into both tokens. */
  approve(location: URL, subject: string, changes?: Fields): string
  /** The External JWT Signer by which the service knows it; `ID` tokens unless told. */
  register(admin: Administrator, changes?: Fields): Promise<string>
}

interface Approved {
  readonly location: URL
  readonly subject: string
  readonly changes: Fields
}

/** It ends with the test. */
export async function startLoginIdp(
  t: TestContext,
  service: Pick<Service, 'clock'>,
): Promise<LoginIdp> {
  const key = await newIdpKey('a-key')
  const codes = new Map<string, Approved>()
  const redeemed: URLSearchParams[] = []

  async function tokens(form: URLSearchParams): Promise<[number, object]> {
    const code = form.get('code') ?? ''
    const approved = codes.get(code)
    codes.delete(code)
    if (approved === undefined) return [400, { error: 'invalid_grant' }]
    const { location, subject, changes } = approved
    const asked = location.searchParams
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '')
    const isTheSame =
      challenge.digest('base64url') === asked.get('code_challenge') &&
      form.get('redirect_uri') === asked.get('redirect_uri') &&
      form.get('client_id') === asked.get('client_id')
    if (!isTheSame) return [400, { error: 'invalid_grant' }]
    const now = epochSeconds(service.clock.now())
    const claims = { iss: idp.issuer, aud: AUDIENCE, sub: subject, iat: now, exp: now + 600 }
    const nonce = asked.get('nonce')
    // OIDC Core §2: required if the client asked for max_age.
    const asked_at = asked.has('max_age') ? { auth_time: now } : {}
    const id_token = await signJwt(key, { ...claims, nonce, ...asked_at, ...changes })
    const access_token = await signJwt(key, { ...claims, ...changes })
    return [200, { token_type: 'Bearer', id_token, access_token }]
  }

  const server = createServer(async (request, response) => {
    const json = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (request.url === '/.well-known/openid-configuration') {
      idp.discoveries += 1
      return json(200, idp.document)
    }
    if (request.url?.startsWith('/authorize?') && idp.sendBack !== undefined) {
      const asked = new URL(request.url, issuer)
      const back = new URL(asked.searchParams.get('redirect_uri') ?? '')
      const said = { state: asked.searchParams.get('state'), ...idp.sendBack(asked) }
      for (const [name, value] of Object.entries(said)) back.searchParams.set(name, String(value))
      return response.writeHead(302, { location: back.href }).end()
    }
    if (request.url === '/jwks') return json(200, { keys: [key.jwk] })
    if (request.url !== '/token') return json(404, {})
    assert.equal(request.headers['content-type'], 'application/x-www-form-urlencoded')
    assert.equal(request.headers.authorization, undefined)
    const form = new URLSearchParams(await text(request))
    redeemed.push(form)
    if (idp.answer !== undefined) return idp.answer(response, form)
    return json(...(await tokens(form)))
  })
  const issuer = `http://127.0.0.1:${await listenUntilEnd(t, server)}`

  const idp: LoginIdp = {
    issuer,
    key,
    document: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    },
    discoveries: 0,
    redeemed,
    answer: undefined,
    sendBack: undefined,
    approve(location, subject, changes = {}) {
      const code = `code-${codes.size}-${redeemed.length}-${Math.random()}`
      codes.set(code, { location, subject, changes })
      return code
    },
    register: (admin, changes = {}) =>
      admin.createSigner({
        issuer,
        jwksEndpoint: `${issuer}/jwks`,
        externalAuthUrl: issuer,
        clientId: CLIENT_ID,
        targetToken: 'ID',
        ...changes,
      }),
  }
  return idp
}
