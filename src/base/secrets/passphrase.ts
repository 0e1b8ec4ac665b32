/**
 * Encrypts a value under a passphrase: scrypt (RFC 7914) derives the key, slowly, and AES-256-GCM encrypts. For secrets
 * that leave the machine.
 */
import { scrypt } from 'node:crypto'
import { base64url, fromBase64url } from '../encoding.ts'
import { decrypt, encrypt } from './aes-gcm.ts'
import type { Random } from './random.ts'
import type { Secret } from './secret.ts'

/** In base64url. */
export interface PassphraseBox {
  readonly salt: string
  /** As `aes-gcm.ts` encrypts. */
  readonly sealed: string
}

/** 128 MiB and some tenths of a second for each guess. These parameters are part of the format. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20 } as const

const SALT_BYTES = 16

/** Encrypts. `context` must be given again to open. */
export async function sealWithPassphrase(
  passphrase: Secret,
  plain: Uint8Array,
  context: string,
  random: Random,
): Promise<PassphraseBox> {
  const salt = random.bytes(SALT_BYTES)
  const sealed = encrypt(await deriveKey(passphrase, salt), plain, context, random)
  return { salt: base64url(salt), sealed: base64url(sealed) }
}

/** Returns the value; undefined for a wrong passphrase or context, and for anything that was changed. */
export async function openWithPassphrase(
  passphrase: Secret,
  box: PassphraseBox,
  context: string,
): Promise<Uint8Array | undefined> {
  const salt = fromBase64url(box.salt)
  const sealed = fromBase64url(box.sealed)
  if (salt?.length !== SALT_BYTES || sealed === undefined) return undefined
  return decrypt(await deriveKey(passphrase, salt), sealed, context)
}

function deriveKey(passphrase: Secret, salt: Uint8Array): Promise<Buffer> {
  // NFKC: the same passphrase typed on another keyboard must match.
  const text = passphrase.reveal().normalize('NFKC')
  return new Promise((resolve, reject) => {
    scrypt(text, salt, 32, COST, (error, key) => (error === null ? resolve(key) : reject(error)))
  })
}
