/**
 * Writes and signs a JWT in the compact form (RFC 7515 §7.1). With elliptic curves a signature takes less time than
 * passing it to another thread and back, so it is made here; RSA takes ten times as long and leaves the event loop.
 */
import { type KeyObject, sign } from 'node:crypto'
import { base64url } from '../../../base/encoding.ts'
import type { SigningAlgorithm } from '../../../protocol/signing-algorithms.ts'

export interface JwtSigner {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly privateKey: KeyObject
}

export async function signJwt(
  { kid, algorithm, privateKey }: JwtSigner,
  typ: string,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> {
  const header = { alg: algorithm, typ, kid }
  const content = [header, claims].map((part) => base64url(Buffer.from(JSON.stringify(part))))
  const text = content.join('.')
  return `${text}.${base64url(await signature(algorithm, Buffer.from(text), privateKey))}`
}

function signature(
  algorithm: SigningAlgorithm,
  text: Buffer,
  key: KeyObject,
): Buffer | Promise<Buffer> {
  switch (algorithm) {
    case 'ES256':
      // RFC 7518 §3.4: the two numbers side by side, not in DER.
      return sign('sha256', text, { key, dsaEncoding: 'ieee-p1363' })
    case 'EdDSA':
      return sign(null, text, key)
    case 'RS256':
      return new Promise((resolve, reject) => {
        sign('sha256', text, key, (error, bytes) => (error ? reject(error) : resolve(bytes)))
      })
  }
}
