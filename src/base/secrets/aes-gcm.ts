/** AES-256-GCM with a random 96-bit nonce. What is encrypted is the nonce, the encrypted bytes and the tag. */
import { type CipherKey, createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from './random.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts and authenticates. `context` is authenticated too, and must be given again to decrypt. */
export function encrypt(
  key: CipherKey,
  plain: Uint8Array,
  context: string,
  random: Random,
): Uint8Array {
  const nonce = random.bytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  if (context !== '') cipher.setAAD(Buffer.from(context))
  const body = cipher.update(plain)
  // GCM is a stream: the end adds no bytes, only the tag.
  cipher.final()
  return Buffer.concat([nonce, body, cipher.getAuthTag()])
}

/** Returns undefined for another key or context, and for anything that was changed. */
export function decrypt(
  key: CipherKey,
  bytes: Uint8Array,
  context: string,
): Uint8Array | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  if (context !== '') decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
  try {
    const body = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES))
    // Throws unless the tag is right.
    decipher.final()
    return new Uint8Array(body)
  } catch {
    return undefined
  }
}
