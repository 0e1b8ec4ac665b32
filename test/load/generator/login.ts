/** The login of an OIDC client that is a program: authorization with PKCE, one credential, exchange of the code. */
import { createHash, createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { Answer, Connection, Request } from './connection.ts'

export const CALLBACK = 'http://localhost:8123/callback'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const JSON_BODY = { 'content-type': 'application/json' }

export interface Tokens {
  readonly access: string
  readonly refresh: string
}

export type Credential =
  | { readonly method: 'cert' }
  | { readonly method: 'username'; readonly username: string; readonly password: string }
  | { readonly method: 'ext-jwt'; readonly jwt: string }

export async function logIn(connection: Connection, credential: Credential): Promise<Tokens> {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'service',
    redirect_uri: CALLBACK,
    scope: 'openid offline_access',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'bench',
    nonce: 'bench',
  })
  const begun = await expect(connection, 302, {
    method: 'GET',
    path: `/oidc/authorization?${query}`,
  })
  const authRequestId = parameterOf(begun, 'authRequestID')
  const { method, ...secret } = credential
  const { headers, body } =
    'jwt' in secret
      ? { headers: { authorization: `Bearer ${secret.jwt}` }, body: {} }
      : { headers: {}, body: secret }
  const loggedIn = await expect(connection, 302, {
    method: 'POST',
    path: `/oidc/login/${method}`,
    headers: { ...JSON_BODY, ...headers },
    body: JSON.stringify({ authRequestId, ...body }),
  })
  return exchange(connection, '/oidc/token', {
    grant_type: 'authorization_code',
    client_id: 'service',
    redirect_uri: CALLBACK,
    code: parameterOf(loggedIn, 'code'),
    code_verifier: verifier,
  })
}

export function refresh(connection: Connection, path: string, token: string): Promise<Tokens> {
  const grant = { grant_type: 'refresh_token', client_id: 'service', refresh_token: token }
  return exchange(connection, path, grant)
}

async function exchange(
  connection: Connection,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<Tokens> {
  const body = new URLSearchParams(form).toString()
  const answer = await expect(connection, 200, { method: 'POST', path, headers: FORM, body })
  const { access_token, refresh_token, id_token } = JSON.parse(answer.body)
  if (!access_token || !refresh_token || !id_token) throw new Error(`no tokens: ${answer.body}`)
  return { access: access_token, refresh: refresh_token }
}

/** Sends a request and rejects unless the answer has this status. */
export async function expect(
  connection: Connection,
  status: number,
  request: Request,
): Promise<Answer> {
  const answer = await connection.send(request)
  if (answer.status === status) return answer
  const { method, path } = request
  throw new Error(`${method} ${path}: expected ${status}, got ${answer.status} ${answer.body}`)
}

function parameterOf({ location = '' }: Answer, name: string): string {
  const value = new URL(location, CALLBACK).searchParams.get(name)
  if (value === null) throw new Error(`no ${name} in ${location}`)
  return value
}

/** An identity provider that Latchkey is set up to accept. */
export interface Signer {
  readonly issuer: string
  readonly audience: string
  readonly kid: string
  readonly keyPem: string
}

const keys = new Map<string, KeyObject>()

/** A fresh ES256 JWT of that provider for the identity with this external id. */
export function externalJwt({ issuer, audience, kid, keyPem }: Signer, sub: string): string {
  const now = Math.floor(Date.now() / 1000)
  const jti = randomBytes(12).toString('base64url')
  const header = encode({ alg: 'ES256', kid, typ: 'JWT' })
  const claims = { iss: issuer, aud: audience, sub, iat: now, nbf: now - 5, exp: now + 300, jti }
  const signed = `${header}.${encode(claims)}`
  const key = keys.get(keyPem) ?? createPrivateKey(keyPem)
  keys.set(keyPem, key)
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
