/**
 * Somebody with a JWT of somebody else: an external IdP that the service knows as a signer, its tokens, the steps of a
 * login with them, and the challenges that ask for them, to the letter of SPEC 401 challenges and D-37.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { decodeJwt, type JWTPayload } from 'jose'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import { ApiError } from '../../../src/contract/envelope.ts'
import type { CallOptions, Reply } from '../http-client.ts'
import { beginLogin, exchangeOf } from '../login/login.ts'
import type { Administrator } from '../management.ts'
import type { Service as RunningService } from '../service.ts'
import { ExternalIdp, type IdpKey, newIdpKey, signJwt } from './external-idp.ts'

type Service = Pick<RunningService, 'baseUrl' | 'call'>
type Fields = Readonly<Record<string, unknown>>

export interface KnownIdp {
  /** The External JWT Signer. */
  readonly id: string
  readonly issuer: string
  readonly key: IdpKey
  /** Its server; the key set is what it shows. */
  readonly server: ExternalIdp
  /** A good token about somebody, but for the changes; undefined takes a claim away. */
  jwt(subject: string, claims?: Fields, header?: Fields): Promise<string>
  /** The same, an hour past its end. */
  expired(subject: string): Promise<string>
  /** The same, signed with a key that the IdP does not have, under the kid of the one that it has. */
  forged(subject: string): Promise<string>
}

/** A JWT somewhere in a text. The letters `eyJ` alone can also be part of something random. */
export const ANY_JWT = /eyJ[\w-]+\.eyJ[\w-]+\./

/** The audience of every signer that a test makes with the management client. */
export const AUDIENCE = 'latchkey'

/** An IdP with one key, and the signer that the service knows it by. */
export async function registerIdp(
  t: TestContext,
  { clock }: { readonly clock: Pick<RunningService['clock'], 'now'> },
  admin: Administrator,
  changes: Fields & { readonly issuer: string },
): Promise<KnownIdp> {
  const key = await newIdpKey('a-key')
  const server = await ExternalIdp.start(t, key)
  const keys = 'certPem' in changes ? {} : { jwksEndpoint: server.jwksEndpoint }
  const id = await admin.createSigner({ ...keys, ...changes })
  const { issuer } = changes

  function claimsAbout(sub: string, claims: Fields = {}): Fields {
    const now = epochSeconds(clock.now())
    const all = { iss: issuer, aud: AUDIENCE, sub, iat: now, exp: now + 600, ...claims }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  }
  const past = () => {
    const now = epochSeconds(clock.now())
    return { iat: now - 7_200, exp: now - 3_600 }
  }

  return {
    id,
    issuer,
    key,
    server,
    jwt: (subject, claims, header) => signJwt(key, claimsAbout(subject, claims), header),
    expired: (subject) => signJwt(key, claimsAbout(subject, past())),
    forged: async (subject) => signJwt(await newIdpKey('a-key'), claimsAbout(subject)),
  }
}

/** Each token in an Authorization field of its own. */
export const bearers = (...tokens: readonly string[]) => ({
  headers: { authorization: tokens.map((token) => `Bearer ${token}`) },
})

/** All of them in one field, which is what `fetch` makes of two. */
export const inOneField = (...tokens: readonly string[]) => ({
  headers: { authorization: tokens.map((token) => `Bearer ${token}`).join(', ') },
})

/** POST /oidc/login/ext-jwt with these tokens, or with other options. */
export function submitJwt(
  service: Service,
  authRequestId: string,
  ...tokens: readonly string[]
): Promise<Reply> {
  const options: CallOptions = tokens.length === 0 ? {} : bearers(...tokens)
  return service.call('/oidc/login/ext-jwt', { ...options, json: { authRequestId } })
}

/** A login up to the answer of the JWT login. */
export async function jwtLogin(service: Service, ...tokens: readonly string[]): Promise<Reply> {
  return submitJwt(service, (await beginLogin(service)).authRequestId, ...tokens)
}

/** The tokens of a login whose last step was answered with the code. */
export async function tokensOf(
  service: Service,
  login: { readonly verifier: string },
  reply: Reply,
): Promise<{ readonly access_token: string; readonly claims: JWTPayload }> {
  const tokens = await exchangeOf(service, login, reply)
  assert.equal(tokens.status, 200, tokens.text)
  const { access_token } = tokens.json()
  return { access_token, claims: decodeJwt(access_token) }
}

/** A whole login, where nothing but the tokens is asked for. */
export async function logInByJwt(service: Service, ...tokens: readonly string[]) {
  const begun = await beginLogin(service)
  return tokensOf(service, begun, await submitJwt(service, begun.authRequestId, ...tokens))
}

const DESCRIPTIONS = {
  missing: 'no matching token was provided',
  expired: 'token expired',
  invalid: 'token is invalid',
} as const

export type Fault = keyof typeof DESCRIPTIONS

export interface Challenged {
  readonly id: string
  readonly issuer: string
}

/** One challenge for each signer. */
export function primaryChallenge(error: Fault, ...signers: readonly Challenged[]): string {
  return signers.map((signer) => challenge('service-primary-ext-jwt', error, signer)).join(', ')
}

export function secondaryChallenge(error: Fault, signer: Challenged): string {
  return challenge('service-secondary-ext-jwt', error, signer)
}

function challenge(realm: string, error: Fault, { id, issuer }: Challenged): string {
  const quoted = issuer.replace(/["\\]/g, '\\$&')
  return (
    `Bearer realm="${realm}", error="${error}", error_description="${DESCRIPTIONS[error]}", ` +
    `id="${id}", issuer="${quoted}"`
  )
}

/** Refused for want of a token, with exactly this challenge, once. */
export function assertChallenged(reply: Reply, expected: string): void {
  assert.equal(reply.status, 401, reply.text)
  assert.equal(reply.json().error.code, 'UNAUTHORIZED')
  const fields = reply.rawHeaders.filter((_, i) => {
    return i % 2 === 1 && reply.rawHeaders[i - 1]?.toLowerCase() === 'www-authenticate'
  })
  assert.deepEqual(fields, [expected])
}

/** A login or call that is blocked: besides the challenge its body has both `error` and `authQueries` (D-14). */
export function assertBlocked(reply: Reply, expected: string, queries: readonly object[]): void {
  assertChallenged(reply, expected)
  const body = reply.json()
  assert.deepEqual(ApiError.parse(body), body)
  assert.deepEqual(body.authQueries, queries)
  assert.equal(reply.headers.location, undefined)
  assert.equal(reply.headers['zt-session'], undefined)
}
