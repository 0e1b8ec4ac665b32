/**
 * A certificate request: PKCS #10, RFC 2986. It has only a name and a key, because the server takes nothing else from
 * it (D-40).
 */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { der, TAG } from '../../base/der.ts'
import { pem } from '../../base/pem.ts'
import {
  encodeAlgorithm,
  encodeName,
  encodeSigned,
  LONGEST_COMMON_NAME,
  SIGNATURE_ALGORITHMS,
} from '../../protocol/x509.ts'

const VERSION_1 = der(TAG.integer, Buffer.from([0]))
const NO_ATTRIBUTES = der(0xa0)

/** Returns it in PEM. Throws a TypeError for a key that cannot sign requests. */
export function makeCsr(key: KeyObject, commonName: string): string {
  const algorithm = SIGNATURE_ALGORITHMS.find(({ keyType }) => keyType === key.asymmetricKeyType)
  if (key.type !== 'private' || algorithm === undefined) {
    throw new TypeError('the key is not a private key of RSA, of an elliptic curve or of Ed25519')
  }
  const length = [...commonName].length
  if (length === 0 || length > LONGEST_COMMON_NAME) {
    throw new TypeError(`a common name has 1 to ${LONGEST_COMMON_NAME} characters`)
  }
  const info = der(
    TAG.sequence,
    VERSION_1,
    encodeName([{ name: 'CN', value: commonName }]),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    NO_ATTRIBUTES,
  )
  const signature = sign(algorithm.hash, info, key)
  return pem('CERTIFICATE REQUEST', encodeSigned(info, encodeAlgorithm(algorithm), signature))
}
