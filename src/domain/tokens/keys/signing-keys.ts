/**
 * The keys that sign our tokens: made, rotated, published, and used here and nowhere else; private keys never
 * leave this file. D-23, D-32. The key set is a copy of the store's, refreshed by `refresh`.
 */
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
  SignJWT,
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
import type { SigningAlgorithm, StoredSigningKey } from './signing-key.ts'

/** What a verified token says; who may do what with it is not decided here. */
export type Verification =
  | { readonly outcome: 'good'; readonly payload: JWTPayload }
  /** Good in everything but its time. */
  | { readonly outcome: 'expired'; readonly payload: JWTPayload }
  | { readonly outcome: 'invalid'; readonly why: string }

export interface SignedToken {
  readonly token: string
  readonly algorithm: SigningAlgorithm
}

export interface VerifyOptions {
  readonly typ: string
  readonly audience: string
  readonly issuers: readonly Issuer[]
}

export interface SigningKeys {
  /** Reads the keys of the store anew. Another instance may have made one. */
  refresh(): Promise<void>
  /** Makes the successor when the newest key is old enough, or of another algorithm than is wanted. */
  rotateIfDue(keep?: KeepKey): Promise<StoredSigningKey | undefined>
  /** Makes the successor now; undefined when another instance was faster. */
  rotate(keep?: KeepKey): Promise<StoredSigningKey | undefined>
  /** The same for a key that signs at once, and that nobody was told of before (D-135). */
  rotateAtOnce(keep: KeepKey): Promise<StoredSigningKey | undefined>
  /** Deletes keys whose last token had expired by `past`, a moment that is certainly past (D-230). */
  removeGone(past: Instant): Promise<number>
  /** Whether there is a key that could sign now: it is there, and it opens. */
  isUsable(): Promise<boolean>
  sign(typ: string, claims: Readonly<Record<string, unknown>>): Promise<SignedToken>
  verify(token: string, options: VerifyOptions): Promise<Verification>
  /** Every published key, oldest first. */
  published(): readonly PublishedKey[]
  /** The public keys, as `/oidc/keys` shows them. */
  keySet(): JSONWebKeySet
  /** The algorithms a token can carry now: what discovery lists. */
  algorithms(): readonly SigningAlgorithm[]
}

/**
 * Stores a key with whatever belongs to it; false when there is one of that generation already. Without one the key is
 * stored alone.
 */
export type KeepKey = (key: StoredSigningKey) => Promise<boolean>

interface UsableKey {
  readonly stored: StoredSigningKey
  readonly publicKey: CryptoKey
  /** Opened when it first signs: a retired key is never opened again. */
  privateKey: Promise<CryptoKey> | undefined
}

export function createSigningKeys(deps: {
  readonly store: Omit<SigningKeyStore, 'removeBefore'>
  readonly vault: Vault
  readonly clock: Clock
  readonly algorithm: SigningAlgorithm
  readonly rotation: Duration
  /** The longest life of a token that is signed here. */
  readonly tokenLife: Duration
  /** D-135: whatever this key signs is refused from now on. */
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
  /** One after the other: an older reading must not bring back a key that was withdrawn. */
  function refresh(): Promise<void> {
    reading = reading.then(readKeys, readKeys)
    return reading
  }

  let turn: Promise<unknown> = Promise.resolve()
  /** Rotations on command wait for each other, so that each of them makes a key after that of the one before. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work, work)
    turn = mine.catch(() => {})
    return mine
  }

  /** Makes the successor of the newest of these. The generation decides when another instance does the same. */
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
    // That a key was withdrawn may be known before the key that took its place.
    if (active !== undefined && isWithdrawn(active.kid)) {
      await refresh()
      active = signingKey(stored(), now)
    }
    const usable = active && keys.get(active.kid)
    if (usable === undefined) throw new Error('there is no signing key')
    usable.privateKey ??= openPrivateKey(vault, usable.stored)
    const { kid, algorithm } = usable.stored
    return { kid, algorithm, privateKey: await usable.privateKey }
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
      // What is found due and what is succeeded are the same keys, or two instances would make one each.
      const known = stored()
      const newest = known.at(-1)
      const now = clock.now()
      // A key that waits for its time is left to it: instances that disagree while a new configuration is rolled
      // out would otherwise make one after the other.
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
      const { kid, algorithm, privateKey } = await signer(clock.now())
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, typ, kid })
        .sign(privateKey)
      return { token, algorithm }
    },

    async verify(token, { typ, audience, issuers }) {
      const now = clock.now()
      const published = publishedKeys(stored(), now)
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid, alg }) => {
            // Only our own keys, each only for its own algorithm; jku, x5u, jwk and x5c are never read (R053, R054).
            const key = published.find((one) => one.kid === kid && one.algorithm === alg)
            const usable = key && keys.get(key.kid)
            if (usable === undefined) throw new errors.JWKSNoMatchingKey()
            return usable.publicKey
          },
          {
            typ,
            audience,
            issuer: [...issuers],
            currentDate: new Date(now),
            requiredClaims: ['exp', 'iat', 'sub'],
          },
        )
        return { outcome: 'good', payload }
      } catch (error) {
        // jose looks at the times last, so an expired token is otherwise good (D-35).
        if (error instanceof errors.JWTExpired) {
          return { outcome: 'expired', payload: error.payload }
        }
        if (error instanceof errors.JOSEError || error instanceof TypeError) {
          return { outcome: 'invalid', why: error.message }
        }
        throw error
      }
    },

    published: () => describeKeys(stored(), clock.now()),

    keySet: () => ({ keys: publishedKeys(stored(), clock.now()).map((key) => key.publicJwk) }),

    algorithms: () => [
      ...new Set(publishedKeys(stored(), clock.now()).map((key) => key.algorithm)),
    ],
  }
}

async function openPrivateKey(vault: Vault, key: StoredSigningKey): Promise<CryptoKey> {
  const opened = vault.open('signing-key', key.sealedPrivateJwk, key.kid)
  const text = opened && fromUtf8(opened)
  if (text === undefined) {
    throw new Error(`signing key ${key.kid} does not open with this installation secret`)
  }
  return importKey(JSON.parse(text), key.algorithm)
}

/** RFC 7518 §6: the public members by name, so that a private one can never slip through (R061). */
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
