/**
 * The uses of the installation secret: encrypting values that must be read back (signing keys, CA keys, auth requests
 * that callers hold) and hashing values that must only be recognized (codes, tokens). Hashes cannot be made again, so
 * they have a separate secret, which outlives the installation secret (D-141).
 *
 * Every purpose has its own key, derived with HKDF (RFC 5869), so that a value made for one purpose is not valid for
 * another. Encryption is AES-256-GCM with a random 96-bit nonce.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Brand } from '../brand.ts'
import { base64url, fromBase64url } from '../encoding.ts'
import { decrypt, encrypt } from './aes-gcm.ts'
import type { Random } from './random.ts'

/** Names what a value is for. Part of the key derivation: renaming one makes its old values unreadable. */
export type Purpose =
  | 'account-form'
  | 'account-login'
  | 'account-session'
  | 'auth-request'
  | 'authorization-code'
  | 'backup'
  | 'browser'
  | 'console-form'
  | 'console-input'
  | 'console-login'
  | 'console-owner'
  | 'console-session'
  | 'device-code'
  | 'device-form'
  | 'device-login'
  | 'device-session'
  | 'dpop-nonce'
  | 'ending'
  | 'enrollment-jwt'
  | 'enrollment-token'
  | 'gateway-login'
  | 'idp-round-trip'
  | 'idp-state'
  | 'kept-primary'
  | 'known-device'
  | 'passkey-challenge'
  | 'passkey-codes'
  | 'recovery-code'
  | 'openziti-callback'
  | 'refresh-pair'
  | 'router-mark'
  | 'refresh-token'
  | 'refresh-successor'
  | 'session-token'
  | 'totp-secret'
  | 'signing-key'
  | 'authority-key'
  | 'hashing-secret'
  | 'installation'
  | 'user-code'

/** A keyed hash of a random value. Safe to store: it grants nothing. */
export type SecretHash = Brand<string, 'SecretHash'>

export interface Vault {
  /** Encrypts and authenticates; the result is base64url. `context` must be given again to open. */
  seal(purpose: Purpose, plain: Uint8Array, context?: string): string
  /** Returns the bytes that were sealed for this purpose and context; undefined for everything else. */
  open(purpose: Purpose, sealed: string, context?: string): Uint8Array | undefined
  /** HMAC-SHA-256 under the purpose's key: the form in which single-use values are stored. */
  hash(purpose: Purpose, value: string): SecretHash
}

export const INSTALLATION_SECRET_BYTES = 32

/** Held by callers and not stored: a restore, which replaces the hashing secret, must void them too (D-159). */
const STORED_NOWHERE: readonly Purpose[] = [
  'auth-request',
  'idp-round-trip',
  'kept-primary',
  'known-device',
  'openziti-callback',
  'passkey-challenge',
]

/** Without a `hashingSecret`, it hashes under the installation secret. */
export function createVault(
  installationSecret: Uint8Array,
  random: Random,
  hashingSecret: Uint8Array = installationSecret,
): Vault {
  // Key objects: from bytes, every use would make one again, which costs as much as the HMAC itself.
  const keys = { seal: new Map<Purpose, KeyObject>(), hash: new Map<Purpose, KeyObject>() }
  const keyFor = (use: 'seal' | 'hash', purpose: Purpose): KeyObject => {
    let key = keys[use].get(purpose)
    if (key === undefined) {
      const info = `latchkey ${use} ${purpose}`
      const from = use === 'seal' ? installationSecret : hashingSecret
      const salt = use === 'seal' && STORED_NOWHERE.includes(purpose) ? hashingSecret : ''
      key = createSecretKey(Buffer.from(hkdfSync('sha256', from, salt, info, 32)))
      keys[use].set(purpose, key)
    }
    return key
  }

  return {
    seal(purpose, plain, context = '') {
      return base64url(encrypt(keyFor('seal', purpose), plain, context, random))
    },

    open(purpose, sealed, context = '') {
      const bytes = fromBase64url(sealed)
      return bytes && decrypt(keyFor('seal', purpose), bytes, context)
    },

    hash(purpose, value) {
      const hmac = createHmac('sha256', keyFor('hash', purpose)).update(value)
      return hmac.digest('base64url') as SecretHash
    },
  }
}

/** Compares in constant time. */
export function equalInConstantTime(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
