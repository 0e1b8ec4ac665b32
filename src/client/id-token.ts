/**
 * Checks an ID token: signed by a published key with that key's own algorithm, by this issuer, for this client, for
 * this login, and for this access token. OIDC Core §3.1.3.7, §12.2; D-23, D-25.
 */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { base64url } from '../base/encoding.ts'
import { isText } from '../base/json.ts'
import { attempt } from '../base/node/attempt.ts'
import type { Clock } from '../base/time/clock.ts'
import { SIGNING_ALGORITHMS } from '../protocol/signing-algorithms.ts'
import { UnexpectedAnswer } from './errors.ts'
import { asObject, jsonOf, refusalOf } from './wire/answers.ts'
import type { Wire } from './wire/https-wire.ts'
import type { Provider } from './wire/provider.ts'

/** The claims of a verified ID token. OIDC Core §2; D-25. */
export interface IdTokenClaims {
  readonly iss: string
  /** The identity. */
  readonly sub: string
  /** The API session. */
  readonly sid: string
  readonly exp: number
  readonly iat: number
  readonly auth_time?: number
  readonly amr?: readonly string[]
  readonly name?: string
  readonly preferred_username?: string
}

export interface ExpectedIdToken {
  readonly accessToken: string
  /** The nonce of the login; undefined at a refresh, whose ID token has none. */
  readonly nonce: string | undefined
  /** At a refresh: the values of the login. */
  readonly before: Pick<IdTokenClaims, 'sub' | 'sid'> | undefined
  /** Called before the keys are fetched, which can fail. */
  readonly beforeFetch?: () => Promise<void>
}

export interface IdTokens {
  /** Throws UnexpectedAnswer, or the reason why the keys cannot be fetched. */
  verify(idToken: string, expected: ExpectedIdToken): Promise<IdTokenClaims>
}

/** Allows for the clocks of laptops. */
const LEEWAY_SECONDS = 60

export function createIdTokens(deps: {
  readonly wire: Pick<Wire, 'send'>
  readonly provider: Pick<Provider, 'issuer' | 'keys'>
  readonly clientId: string
  readonly clock: Pick<Clock, 'now'>
}): IdTokens {
  const { wire, provider, clientId, clock } = deps
  let known: ReadonlyMap<string, KeyObject> = new Map()

  /** Keys rotate, so an unknown one may be new. */
  async function keyFor(idToken: string, expected: ExpectedIdToken): Promise<KeyObject> {
    const name = nameOfKey(idToken)
    const found = known.get(name)
    if (found !== undefined) return found
    await expected.beforeFetch?.()
    known = await fetchKeys(wire, provider.keys)
    const fetched = known.get(name)
    if (fetched === undefined) throw new UnexpectedAnswer('no published key signed the ID token')
    return fetched
  }

  return {
    async verify(idToken, expected) {
      const key = await keyFor(idToken, expected)
      const { payload, algorithm } = await verified(idToken, key, {
        issuer: provider.issuer,
        audience: clientId,
        currentDate: new Date(clock.now()),
      })
      const claims = readClaims(payload, clientId)
      const { nonce, before, accessToken } = expected
      if (nonce !== undefined && payload['nonce'] !== nonce) {
        throw new UnexpectedAnswer('the ID token answers another login')
      }
      if (before !== undefined && (claims.sub !== before.sub || claims.sid !== before.sid)) {
        throw new UnexpectedAnswer('the ID token of the refresh is that of another session')
      }
      if (payload['at_hash'] !== accessTokenHash(accessToken, algorithm)) {
        throw new UnexpectedAnswer('the ID token came beside another access token')
      }
      return claims
    },
  }
}

/** Key id and algorithm together: each key only for its own algorithm (R053). */
const keyName = (kid: unknown, alg: unknown): string => JSON.stringify([kid, alg])

function nameOfKey(idToken: string): string {
  const header = attempt(() => decodeProtectedHeader(idToken))
  if (header === undefined) throw new UnexpectedAnswer('the ID token is not a JWT')
  return keyName(header.kid, header.alg)
}

async function fetchKeys(
  wire: Pick<Wire, 'send'>,
  url: URL,
): Promise<ReadonlyMap<string, KeyObject>> {
  const answer = await wire.send({ method: 'GET', url, headers: { accept: 'application/json' } })
  if (answer.status !== 200) throw refusalOf(answer, 'fetching the keys')
  const list = jsonOf(answer)?.['keys']
  if (!Array.isArray(list)) throw new UnexpectedAnswer('the keys are not a JWK set')
  const keys = new Map<string, KeyObject>()
  for (const jwk of list) {
    const { kid, alg } = asObject(jwk) ?? {}
    if (!isText(kid) || !SIGNING_ALGORITHMS.some((known) => known === alg)) continue
    const key = attempt(() => createPublicKey({ key: jwk, format: 'jwk' }))
    if (key !== undefined) keys.set(keyName(kid, alg), key)
  }
  return keys
}

async function verified(
  idToken: string,
  key: KeyObject,
  expected: { readonly issuer: string; readonly audience: string; readonly currentDate: Date },
): Promise<{ readonly payload: JWTPayload; readonly algorithm: string }> {
  try {
    const { payload, protectedHeader } = await jwtVerify(idToken, key, {
      ...expected,
      algorithms: [...SIGNING_ALGORITHMS],
      clockTolerance: LEEWAY_SECONDS,
      requiredClaims: ['exp', 'iat', 'sub', 'sid'],
    })
    return { payload, algorithm: protectedHeader.alg }
  } catch (error) {
    if (error instanceof errors.JWTExpired) {
      throw new UnexpectedAnswer('the ID token has expired; is the clock of this machine right?')
    }
    if (error instanceof errors.JOSEError || error instanceof TypeError) {
      throw new UnexpectedAnswer('the ID token is not valid', { cause: error })
    }
    throw error
  }
}

function readClaims(payload: JWTPayload, clientId: string): IdTokenClaims {
  const { sub, sid, azp, aud } = payload
  // OIDC Core §3.1.3.7: with several audiences azp is required, and if present it must be ours.
  const isOurs = azp === clientId || (azp === undefined && !Array.isArray(aud))
  if (!isText(sub) || !isText(sid) || !isOurs) {
    throw new UnexpectedAnswer('the ID token names no session of this client')
  }
  return payload as unknown as IdTokenClaims
}

/** OIDC Core §3.1.3.6: the left half of the hash that the signing algorithm uses; Ed25519 uses SHA-512. */
function accessTokenHash(accessToken: string, algorithm: string): string {
  const digest = createHash(algorithm === 'EdDSA' ? 'sha512' : 'sha256')
    .update(accessToken)
    .digest()
  return base64url(digest.subarray(0, digest.length / 2))
}
