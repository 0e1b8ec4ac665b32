/** A client that proves its key with DPoP (RFC 9449), without any library: each part can be made wrong by a test. */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { CallOptions, Reply } from '../http-client.ts'
import { ADMIN, type Service as RunningService } from '../service.ts'
import { answerOf, beginLogin, REDIRECT_URI, submitPassword, type Tokens } from './login.ts'

type Service = Pick<RunningService, 'baseUrl' | 'call' | 'clock'>

export interface DpopKey {
  readonly algorithm: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
  /** Thumbprint. */
  readonly jkt: string
}

export async function dpopKey(algorithm = 'ES256'): Promise<DpopKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  const jwk = await exportJWK(publicKey)
  return { algorithm, privateKey, jwk, jkt: await calculateJwkThumbprint(jwk) }
}

export interface ProofParts {
  readonly method: string
  readonly url: string
  readonly nonce?: string | undefined
  readonly token?: string | undefined
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
}

/** The proof as it should be at this time, but for the changes; a claim that is undefined is left out. */
export async function dpopProof(
  service: Pick<Service, 'clock'>,
  { algorithm, privateKey, jwk }: DpopKey,
  { method, url, nonce, token, header, claims }: ProofParts,
): Promise<string> {
  const ath = token === undefined ? {} : { ath: hashOf(token) }
  const all = {
    jti: randomUUID(),
    htm: method,
    htu: url,
    iat: Math.floor(service.clock.now() / 1000),
    ...(nonce === undefined ? {} : { nonce }),
    ...ath,
    ...claims,
  }
  return new SignJWT(JSON.parse(JSON.stringify(all)))
    .setProtectedHeader({ typ: 'dpop+jwt', alg: algorithm, jwk, ...header })
    .sign(privateKey)
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** A nonce that the service accepts now. */
export async function freshNonce(service: Service): Promise<string> {
  const reply = await service.call('/oidc/token', {
    form: [],
    headers: { dpop: 'anything' },
  })
  const nonce = reply.headers['dpop-nonce']
  assert.equal(typeof nonce, 'string', reply.text)
  return String(nonce)
}

type Form = Readonly<Record<string, string | undefined>>

/** A token request with a proof of the key, which `parts` may change. */
export async function tokenRequest(
  service: Service,
  key: DpopKey,
  form: Form,
  parts: Partial<ProofParts> = {},
): Promise<Reply> {
  const proof = await dpopProof(service, key, {
    method: 'POST',
    url: `${service.baseUrl}/oidc/token`,
    nonce: await freshNonce(service),
    ...parts,
  })
  return postToken(service, form, { dpop: proof })
}

export function postToken(
  service: Service,
  form: Form,
  headers: NonNullable<CallOptions['headers']> = {},
): Promise<Reply> {
  const all = { client_id: 'service', ...form }
  const kept = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return service.call('/oidc/token', { form: kept, headers })
}

/** A login up to its code, and the form that exchanges it. */
export async function codeForm(
  service: Service,
  changes: Form = {},
  credentials: { readonly username: string; readonly password: string } = ADMIN,
): Promise<Form> {
  const asked = { scope: 'openid offline_access', ...changes }
  const { verifier, authRequestId } = await beginLogin(service, asked)
  const answer = answerOf(await submitPassword(service, authRequestId, credentials))
  return {
    grant_type: 'authorization_code',
    code: answer.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  }
}

export type BoundTokens = Tokens & { readonly refresh_token: string }

/** A whole login whose tokens are bound to the key. */
export async function logInWithKey(
  service: Service,
  key: DpopKey,
  credentials?: { readonly username: string; readonly password: string },
): Promise<BoundTokens> {
  const reply = await tokenRequest(service, key, await codeForm(service, {}, credentials))
  assert.equal(reply.status, 200, reply.text)
  return reply.json()
}

export const refreshForm = (refresh_token: string): Form => ({
  grant_type: 'refresh_token',
  refresh_token,
})

/** A call with the token and a proof, which `parts` may change. */
export async function boundCall(
  service: Service,
  key: DpopKey,
  token: string,
  path: string,
  parts: Partial<ProofParts> = {},
  options: CallOptions = {},
): Promise<Reply> {
  const proof = await dpopProof(service, key, {
    method: options.method ?? 'GET',
    url: `${service.baseUrl}${path}`,
    nonce: await freshNonce(service),
    token,
    ...parts,
  })
  return callWithProof(service, path, token, proof, options)
}

export function callWithProof(
  service: Service,
  path: string,
  token: string,
  proof: string,
  options: CallOptions = {},
): Promise<Reply> {
  return service.call(path, {
    ...options,
    headers: { authorization: `DPoP ${token}`, dpop: proof, ...options.headers },
  })
}
