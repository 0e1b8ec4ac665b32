/**
 * The key that the tokens of a session are bound to, and the proofs that it signs: DPoP, RFC 9449. A request is sent again
 * once, with a new proof, if the server asks for a nonce.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKeyInput,
  type KeyObject,
  sign,
} from 'node:crypto'
import { base64url, sha256 } from '../base/encoding.ts'
import { attempt } from '../base/node/attempt.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { epochSeconds } from '../base/time/instant.ts'
import { DPOP_HEADER, DPOP_NONCE_HEADER } from '../protocol/headers.ts'
import { challengesOf, codeOf } from './wire/answers.ts'
import type { Wire, WireAnswer, WireRequest } from './wire/https-wire.ts'

export interface ProofKey {
  /** The private key, for `SavedSession`. */
  readonly jwk: Readonly<Record<string, unknown>>
  /** Its thumbprint: `dpop_jkt`, RFC 9449 §10. */
  readonly jkt: string
  /** Sends with a proof; `accessToken` is the one that the request carries, if any. */
  send(wire: Pick<Wire, 'send'>, request: WireRequest, accessToken?: string): Promise<WireAnswer>
  /** A proof for a request that the program sends itself. */
  proof(request: ProvenRequest): string
}

export interface ProvenRequest {
  readonly method: string
  readonly url: URL
  readonly accessToken?: string | undefined
  /** Default: the last one that this server gave. */
  readonly nonce?: string | undefined
}

/** By origin: RFC 9449 §8.2, §9. Shared by all sessions of a client. */
export type Nonces = Map<string, string>

export interface KeyTools {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly nonces: Nonces
}

export function newProofKey(tools: KeyTools): ProofKey {
  return proofKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, tools)
}

/** Throws a TypeError that does not quote the key. */
export function restoreProofKey(jwk: Readonly<Record<string, unknown>>, tools: KeyTools): ProofKey {
  const input = { key: jwk as JsonWebKeyInput['key'], format: 'jwk' } as const
  const key = attempt(() => createPrivateKey(input))
  if (key === undefined) {
    throw new TypeError('the saved session has a dpopKey that is not a private key')
  }
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new TypeError('the saved session has a dpopKey of another kind than P-256')
  }
  return proofKey(key, tools)
}

function proofKey(privateKey: KeyObject, { clock, random, nonces }: KeyTools): ProofKey {
  const publicKey = createPublicKey(privateKey).export({ format: 'jwk' })
  const { kty = '', crv = '', x = '', y = '' } = publicKey
  const part = (value: object) => base64url(Buffer.from(JSON.stringify(value)))
  const head = part({ typ: 'dpop+jwt', alg: 'ES256', jwk: { crv, kty, x, y } })

  function proof({ method, url, accessToken, nonce = nonces.get(url.origin) }: ProvenRequest) {
    const body = part({
      jti: base64url(random.bytes(16)),
      htm: method,
      // RFC 9449 §4.2: without query and fragment.
      htu: `${url.origin}${url.pathname}`,
      iat: epochSeconds(clock.now()),
      ...(nonce === undefined ? {} : { nonce }),
      ...(accessToken === undefined ? {} : { ath: base64url(sha256(accessToken)) }),
    })
    const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
    const signature = sign('sha256', Buffer.from(`${head}.${body}`), key)
    return `${head}.${body}.${base64url(signature)}`
  }

  async function send(
    wire: Pick<Wire, 'send'>,
    request: WireRequest,
    accessToken?: string,
  ): Promise<WireAnswer> {
    const { method, url } = request
    // A new proof for every attempt: each works only once.
    const headersOfAttempt = () => ({ [DPOP_HEADER]: proof({ method, url, accessToken }) })
    const attempt = async () => {
      const answer = await wire.send({ ...request, headersOfAttempt })
      const nonce = answer.headers.get(DPOP_NONCE_HEADER)
      if (nonce !== null) nonces.set(url.origin, nonce)
      return answer
    }
    const answer = await attempt()
    return asksForNonce(answer) ? attempt() : answer
  }

  return {
    jwk: { ...privateKey.export({ format: 'jwk' }) },
    jkt: base64url(sha256(JSON.stringify({ crv, kty, x, y }))),
    send,
    proof,
  }
}

/** RFC 9449 §8: an error of the token endpoint; §9: a challenge. */
function asksForNonce(answer: WireAnswer): boolean {
  if (!answer.headers.has(DPOP_NONCE_HEADER)) return false
  if (answer.status === 400) return codeOf(answer) === 'use_dpop_nonce'
  if (answer.status !== 401) return false
  return challengesOf(answer).some(
    ({ scheme, parameters }) =>
      scheme.toLowerCase() === 'dpop' && parameters.get('error') === 'use_dpop_nonce',
  )
}
