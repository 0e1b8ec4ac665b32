/**
 * API session certificates: SPEC API Session Certificates; D-40, D-41. The key is created here and never leaves the
 * process; the returned certificate must be for it.
 */
import { createPrivateKey, generateKeyPairSync, KeyObject } from 'node:crypto'
import { readCertificate } from '../../base/certificates.ts'
import { isText } from '../../base/json.ts'
import { attempt } from '../../base/node/attempt.ts'
import type { Call } from '../api-call.ts'
import { UnexpectedAnswer } from '../errors.ts'
import { asObject, jsonOf, refusalOf } from '../wire/answers.ts'
import type { WireAnswer } from '../wire/https-wire.ts'
import { makeCsr } from './csr.ts'

export interface CertificateOptions {
  /** Default: the identity. */
  readonly commonName?: string | undefined
  /** The private key, as an object or in PEM. Default: a new P-256 key. */
  readonly key?: KeyObject | string | undefined
  readonly signal?: AbortSignal
}

export interface SessionCertificate {
  readonly id: string
  /** PEM: the leaf, then the intermediates. */
  readonly certificate: string
  /** PEM: the CAs that servers of this network are trusted by. */
  readonly cas: string
  /** The private key. `key.export({ type: 'pkcs8', format: 'pem' })` for TLS. */
  readonly key: KeyObject
  /** Valid until then, but not longer than its session. */
  readonly validTo: Date
  /** Revokes it. */
  remove(): Promise<void>
}

const PATH = '/edge/client/v1/current-api-session/certificates'

export async function requestCertificate(
  call: Call,
  identityId: string,
  { commonName = identityId, key, signal }: CertificateOptions = {},
): Promise<SessionCertificate> {
  const privateKey = keyFrom(key)
  const csr = makeCsr(privateKey, commonName)
  const answer = await wireAnswerOf(await call(PATH, { json: { csr }, signal }))
  if (answer.status !== 201 && answer.status !== 200) {
    throw refusalOf(answer, 'the session certificate')
  }
  const { id, certificate, cas } = asObject(jsonOf(answer)?.['data']) ?? {}
  const leaf = isText(certificate) ? readCertificate(certificate) : undefined
  if (!isText(id) || !isText(certificate) || !isText(cas) || leaf === undefined) {
    throw new UnexpectedAnswer('the session certificate cannot be read')
  }
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new UnexpectedAnswer('the session certificate is one for another key')
  }
  return {
    id,
    certificate,
    cas,
    key: privateKey,
    validTo: leaf.validToDate,
    async remove() {
      const path = `${PATH}/${encodeURIComponent(id)}`
      const removed = await wireAnswerOf(await call(path, { method: 'DELETE' }))
      if (removed.status !== 200) throw refusalOf(removed, 'the removal of the certificate')
    },
  }
}

/** Returns the given key, or a new one. Throws a TypeError that does not contain the text. */
export function keyFrom(key: CertificateOptions['key']): KeyObject {
  if (key === undefined) return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  if (key instanceof KeyObject) return key
  const read = attempt(() => createPrivateKey(key))
  // Node's own message may quote the text, which is a secret.
  if (read === undefined) throw new TypeError('the key is not a private key in PEM')
  return read
}

export async function wireAnswerOf(response: Response): Promise<WireAnswer> {
  const { status, headers } = response
  return { status, headers, body: new Uint8Array(await response.arrayBuffer()) }
}
