/**
 * An authenticator in software, with the browser around it: it makes and uses passkeys as WebAuthn Level 3 §6.3 says, and
 * lies about anything that a test names. Written from the specification, without the library of the service.
 */
import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type {
  CreationOptions,
  RequestOptions,
} from '../../../src/domain/factors/passkey/options.ts'
import { type Cbor, cbor } from './cbor.ts'

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256'

/** What is wrong with an answer, where it differs from a correct one. */
export interface Lie {
  readonly type?: string
  readonly challenge?: string
  readonly origin?: string
  readonly crossOrigin?: unknown
  readonly topOrigin?: string
  readonly rpId?: string
  /** Bits to set and to clear in the flags of the authenticator data. */
  readonly set?: number
  readonly clear?: number
  /** The algorithm that the key claims, whatever it is. */
  readonly coseAlgorithm?: number
  /** The exponent of an RSA key. */
  readonly exponent?: Buffer
  readonly fmt?: string
  readonly statement?: ReadonlyMap<string, Cbor>
  /** The id in the answer, and the one in the signed data. */
  readonly id?: string
  readonly attestedId?: Buffer
  readonly userHandle?: string | null
  readonly signCount?: number
  readonly isBadlySigned?: boolean
  /** Signs something else than what it sends. */
  readonly extra?: Buffer
}

export const FLAGS = { up: 0x01, uv: 0x04, be: 0x08, bs: 0x10, at: 0x40 } as const

export interface Credential {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: Readonly<Record<string, unknown>>
  readonly clientExtensionResults: Record<string, never>
}

export interface SoftAuthenticator {
  readonly credentialId: string
  /** `navigator.credentials.create()`. */
  create(publicKey: CreationOptions, origin: string, lie?: Lie): Credential
  /** `navigator.credentials.get()`. */
  get(publicKey: RequestOptions, origin: string, lie?: Lie): Credential
}

/** One key. `counts`: whether it has a counter, as security keys do; synchronized passkeys have none. */
export function softAuthenticator({
  algorithm = 'ES256',
  counts = false,
  isSynchronized = false,
}: {
  readonly algorithm?: Algorithm
  readonly counts?: boolean
  readonly isSynchronized?: boolean
} = {}): SoftAuthenticator {
  const credentialId = randomBytes(32)
  const { privateKey, publicKey } = newKey(algorithm)
  let counter = 0
  let userHandle: string | undefined

  const flagsWith = (own: number, { set = 0, clear = 0 }: Lie) =>
    (own | (isSynchronized ? FLAGS.be | FLAGS.bs : 0) | set) & ~clear

  function data(rpId: string, flags: number, lie: Lie): Buffer {
    const head = Buffer.alloc(5)
    head.writeUInt8(flags, 0)
    if (counts) counter += 1
    head.writeUInt32BE(lie.signCount ?? counter, 1)
    return Buffer.concat([hash(lie.rpId ?? rpId), head])
  }

  const answer = (lie: Lie, response: Credential['response']): Credential => {
    const id = lie.id ?? credentialId.toString('base64url')
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} }
  }

  return {
    credentialId: credentialId.toString('base64url'),

    create(options, origin, lie = {}) {
      userHandle = options.user.id
      const clientData = clientDataOf('webauthn.create', options.challenge, origin, lie)
      const attestedId = lie.attestedId ?? credentialId
      const length = Buffer.alloc(2)
      length.writeUInt16BE(attestedId.length)
      const authData = Buffer.concat([
        data(options.rp.id, flagsWith(FLAGS.up | FLAGS.uv | FLAGS.at, lie), lie),
        Buffer.alloc(16),
        length,
        attestedId,
        cbor(coseKey(publicKey, algorithm, lie)),
      ])
      const attestationObject = cbor(
        new Map<string, Cbor>([
          ['fmt', lie.fmt ?? 'none'],
          ['attStmt', lie.statement ?? new Map()],
          ['authData', authData],
        ]),
      )
      return answer(lie, {
        clientDataJSON: clientData.toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal', 'hybrid', 'telepathy'],
      })
    },

    get(options, origin, lie = {}) {
      const clientData = clientDataOf('webauthn.get', options.challenge, origin, lie)
      const authData = data(options.rpId, flagsWith(FLAGS.up | FLAGS.uv, lie), lie)
      const signed = Buffer.concat([authData, hash(clientData), lie.extra ?? Buffer.alloc(0)])
      const signature = signWith(privateKey, algorithm, signed)
      if (lie.isBadlySigned === true) signature.writeUInt8(signature.readUInt8(9) ^ 1, 9)
      const handle = lie.userHandle === null ? undefined : (lie.userHandle ?? userHandle)
      return answer(lie, {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(handle === undefined ? {} : { userHandle: handle }),
      })
    },
  }
}

function clientDataOf(type: string, challenge: string, origin: string, lie: Lie): Buffer {
  const { crossOrigin = false, topOrigin } = lie
  return Buffer.from(
    JSON.stringify({
      type: lie.type ?? type,
      challenge: lie.challenge ?? challenge,
      origin: lie.origin ?? origin,
      crossOrigin,
      ...(topOrigin === undefined ? {} : { topOrigin }),
    }),
  )
}

function newKey(algorithm: Algorithm): { privateKey: KeyObject; publicKey: KeyObject } {
  switch (algorithm) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 'EdDSA':
      return generateKeyPairSync('ed25519')
    case 'RS256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 })
  }
}

/** RFC 9052 §7, RFC 8230 §4. */
function coseKey(key: KeyObject, algorithm: Algorithm, lie: Lie): Map<number, Cbor> {
  const jwk = key.export({ format: 'jwk' })
  const part = (name: 'x' | 'y' | 'n' | 'e') => {
    const text = jwk[name]
    assert.ok(typeof text === 'string')
    return Buffer.from(text, 'base64url')
  }
  const alg = lie.coseAlgorithm ?? { ES256: -7, EdDSA: -8, RS256: -257 }[algorithm]
  const parts: Record<Algorithm, () => readonly [number, Cbor][]> = {
    ES256: () => [
      [1, 2],
      [3, alg],
      [-1, 1],
      [-2, part('x')],
      [-3, part('y')],
    ],
    EdDSA: () => [
      [1, 1],
      [3, alg],
      [-1, 6],
      [-2, part('x')],
    ],
    RS256: () => [
      [1, 3],
      [3, alg],
      [-1, part('n')],
      [-2, lie.exponent ?? part('e')],
    ],
  }
  return new Map(parts[algorithm]())
}

function signWith(key: KeyObject, algorithm: Algorithm, data: Buffer): Buffer {
  return sign(algorithm === 'EdDSA' ? null : 'sha256', data, key)
}

function hash(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
