/**
 * The keys that sign our tokens: only this file creates, rotates, publishes and uses them, and private keys never leave
 * it. D-23, D-32. The key set is a copy of the store's, updated by `refresh`.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import {
  type CryptoKey,
  calculateJwkThumbprint,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import { fromUtf8, utf8 } from '../../../base/encoding.ts'
import type { Vault } from '../../../base/secrets/vault.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Duration } from '../../../base/time/duration.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { Issuer } from '../../../protocol/oidc.ts'
import type { SigningKeyStore } from '../stores.ts'
import {
  activeFrom,
  describeKeys,
  goneKeys,
  isRotationDue,
  type PublishedKey,
  publishedKeys,
  signingKey,
} from './key-schedule.ts'
import { signJwt } from './sign-jwt.ts'
import type { SigningAlgorithm, StoredSigningKey } from './signing-key.ts'

/** What a verified token says; authorization is decided elsewhere. */
export type Verification =
  | { readonly outcome: 'good'; readonly payload: JWTPayload; readonly kid: string }
  /** Valid except for its time. */
  | { readonly outcome: 'expired'; readonly payload: JWTPayload }
  | { readonly outcome: 'invalid'; readonly why: string }

export interface SignedToken {
  readonly token: string
  readonly algorithm: SigningAlgorithm
}

export interface VerifyOptions {
  readonly typ: string
  readonly audience: string | string[]
  readonly issuers: readonly Issuer[]
}

export interface SigningKeys {
  /** Reads the keys from the store again. Another instance may have created one. */
  refresh(): Promise<void>
  /** Creates the successor if the newest key is old enough or has another algorithm than the configured one. */
  rotateIfDue(keep?: KeepKey): Promise<StoredSigningKey | undefined>
  /** Creates the successor now. Returns undefined if another instance was faster. */
  rotate(keep?: KeepKey): Promise<StoredSigningKey | undefined>
  /** The same for a key that signs immediately, without having been published before (D-135). */
  rotateAtOnce(keep: KeepKey): Promise<StoredSigningKey | undefined>
  /** Deletes keys whose last token had expired by `past`, a moment that is certainly past (D-230). */
  removeGone(past: Instant): Promise<number>
  /** Whether there is a key that can sign now and that the vault can open. */
  isUsable(): Promise<boolean>
  sign(typ: string, claims: Readonly<Record<string, unknown>>): Promise<SignedToken>
  verify(token: string, options: VerifyOptions): Promise<Verification>
  /** Whether tokens that this key signed are still accepted. */
  isPublished(kid: string): boolean
  /** Every published key, oldest first. */
  published(): readonly PublishedKey[]
  /** The public keys, as `/oidc/keys` returns them. */
  keySet(): JSONWebKeySet
  /** The algorithms that a token can have now; discovery lists them. */
  algorithms(): readonly SigningAlgorithm[]
}

/**
 * Stores a key together with what belongs to it. Returns false if a key of that generation exists. By default only
 * the key is stored.
 */
export type KeepKey = (key: StoredSigningKey) => Promise<boolean>

interface UsableKey {
  readonly stored: StoredSigningKey
  readonly publicKey: CryptoKey
  /** Opened when it first signs: a retired key is never opened again. */
  privateKey: KeyObject | undefined
}

export function createSigningKeys(deps: {
  readonly store: Omit<SigningKeyStore, 'removeBefore'>
  readonly vault: Vault
  readonly clock: Clock
  readonly algorithm: SigningAlgorithm
  readonly rotation: Duration
  /** The longest lifetime of a token that is signed here. */
  readonly tokenLife: Duration
  /** D-135: all tokens signed by this key are refused from now on. */
  readonly isWithdrawn?: (kid: string) => boolean
}): SigningKeys {
  const { store, vault, clock, algorithm, rotation, tokenLife, isWithdrawn = () => false } = deps
  let keys: ReadonlyMap<string, UsableKey> = new Map()
  const stored = () => [...keys.values()].map((key) => key.stored)

  async function readKeys(): Promise<void> {
    const next = new Map<string, UsableKey>()
    for (const key of await store.list()) {
      const known = keys.get(key.kid)
      const publicKey = known?.publicKey ?? (await importKey(key.publicJwk, key.algorithm))
      next.set(key.kid, { stored: key, publicKey, privateKey: known?.privateKey })
    }
    keys = next
  }

  let reading: Promise<void> = Promise.resolve()
  /** Reads run one after the other: an older read must not restore a key that was withdrawn. */
  function refresh(): Promise<void> {
    reading = reading.then(readKeys, readKeys)
    return reading
  }

  let turn: Promise<unknown> = Promise.resolve()
  /** Rotations on command run one after the other, so that each creates the successor of the previous one's key. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work, work)
    turn = mine.catch(() => {})
    return mine
  }

  /** Creates the successor of the newest of these. If another instance does the same, the generation decides. */
  async function succeed(
    before: readonly StoredSigningKey[],
    startsAt: (now: Instant) => Instant,
    keep: KeepKey = store.insert,
  ): Promise<StoredSigningKey | undefined> {
    const now = clock.now()
    const pair = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 })
    const publicJwk = await exportJWK(pair.publicKey)
    const kid = await calculateJwkThumbprint(publicJwk) // RFC 7638
    const privateJwk = JSON.stringify(await exportJWK(pair.privateKey))
    const key: StoredSigningKey = {
      kid,
      generation: (before.at(-1)?.generation ?? 0) + 1,
      algorithm,
      publicJwk: { ...publicMembers(publicJwk), kid, alg: algorithm, use: 'sig' },
      sealedPrivateJwk: vault.seal('signing-key', utf8(privateJwk), kid),
      createdAt: now,
      activeFrom: startsAt(now),
      tokenLife,
    }
    const isFirst = await keep(key)
    await refresh()
    return isFirst ? key : undefined
  }

  async function signer(now: Instant) {
    let active = signingKey(stored(), now)
    // This instance may learn that a key was withdrawn before it has read the replacement.
    if (active !== undefined && isWithdrawn(active.kid)) {
      await refresh()
      active = signingKey(stored(), now)
    }
    const usable = active && keys.get(active.kid)
    if (usable === undefined) throw new Error('there is no signing key')
    usable.privateKey ??= openPrivateKey(vault, usable.stored)
    const { kid, algorithm } = usable.stored
    return { kid, algorithm, privateKey: usable.privateKey }
  }

  /** D-135: a withdrawn key is refused even while it has not been removed from the copy. */
  function isPublished(kid: string): boolean {
    const isKnown = publishedKeys(stored(), clock.now()).some((key) => key.kid === kid)
    return isKnown && !isWithdrawn(kid)
  }

  return {
    refresh,

    rotate: (keep) =>
      inTurn(async () => {
        await refresh()
        const known = stored()
        return succeed(known, (now) => activeFrom(known, now), keep)
      }),

    rotateAtOnce: (keep) =>
      inTurn(async () => {
        await refresh()
        return succeed(stored(), (now) => now, keep)
      }),

    async rotateIfDue(keep) {
      await store.raiseTokenLife(tokenLife)
      await refresh()
      // Use the same list for the check and for the successor; otherwise two instances could create one each.
      const known = stored()
      const newest = known.at(-1)
      const now = clock.now()
      // Leave a key that is not active yet alone: while a new configuration is rolled out, instances that disagree
      // would otherwise keep replacing each other's keys.
      const isOtherAlgorithm =
        newest !== undefined && newest.activeFrom <= now && newest.algorithm !== algorithm
      const isDue = isOtherAlgorithm || isRotationDue(known, rotation, now)
      return isDue ? succeed(known, (at) => activeFrom(known, at), keep) : undefined
    },

    async removeGone(past) {
      const gone = goneKeys(stored(), past)
      for (const key of gone) await store.remove(key.kid)
      if (gone.length > 0) await refresh()
      return gone.length
    },

    isUsable: () =>
      signer(clock.now()).then(
        () => true,
        () => false,
      ),

    async sign(typ, claims) {
      const key = await signer(clock.now())
      return { token: await signJwt(key, typ, claims), algorithm: key.algorithm }
    },

    async verify(token, { typ, audience, issuers }) {
      try {
        let signedBy = ''
        const { payload } = await jwtVerify(
          token,
          ({ kid = '', alg }) => {
            // Only our own keys, each only for its own algorithm; jku, x5u, jwk and x5c are never read (R053, R054).
            const key = isPublished(kid) ? keys.get(kid) : undefined
            if (key?.stored.algorithm !== alg) throw new errors.JWKSNoMatchingKey()
            signedBy = kid
            return key.publicKey
          },
          {
            typ,
            audience,
            issuer: [...issuers],
            currentDate: new Date(clock.now()),
            requiredClaims: ['exp', 'iat', 'sub'],
          },
        )
        return { outcome: 'good', payload, kid: signedBy }
      } catch (error) {
        // jose checks the times last, so an expired token is otherwise valid (D-35).
        if (error instanceof errors.JWTExpired) {
          return { outcome: 'expired', payload: error.payload }
        }
        if (error instanceof errors.JOSEError || error instanceof TypeError) {
          return { outcome: 'invalid', why: error.message }
        }
        throw error
      }
    },

    isPublished,

    published: () => describeKeys(stored(), clock.now()),

    keySet: () => ({ keys: publishedKeys(stored(), clock.now()).map((key) => key.publicJwk) }),

    algorithms: () => [
      ...new Set(publishedKeys(stored(), clock.now()).map((key) => key.algorithm)),
    ],
  }
}

function openPrivateKey(vault: Vault, key: StoredSigningKey): KeyObject {
  const opened = vault.open('signing-key', key.sealedPrivateJwk, key.kid)
  const text = opened && fromUtf8(opened)
  if (text === undefined) {
    throw new Error(`signing key ${key.kid} does not open with this installation secret`)
  }
  return createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
}

/** RFC 7518 §6: lists the public members by name, so that a private one can never be included (R061). */
function publicMembers({ kty, crv, x, y, n, e }: JWK): Record<string, string> {
  const named = Object.entries({ kty, crv, x, y, n, e })
  return Object.fromEntries(named.filter((member): member is [string, string] => !!member[1]))
}

async function importKey(
  jwk: Readonly<Record<string, string>>,
  algorithm: SigningAlgorithm,
): Promise<CryptoKey> {
  const key = await importJWK(jwk, algorithm)
  if (key instanceof Uint8Array) throw new Error('a signing key is never symmetric')
  return key
}
