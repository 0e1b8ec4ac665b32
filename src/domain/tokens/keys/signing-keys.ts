/**
 * The keys that sign our tokens: only this file creates, rotates, publishes and uses them, and private keys never leave
 * it. D-23, D-32, D-320. The key set is a copy of the store's, updated by `refresh`.
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
import { ACCESS_TOKEN_TYP } from '../../../protocol/service-claims.ts'
import { ID_TOKEN_TYP } from '../id-token.ts'
import type { SigningKeyStore } from '../stores.ts'
import {
  activeFrom,
  canSign,
  describeKeys,
  goneKeys,
  isRotationDue,
  type PublishedKey,
  publishedKeys,
  signingKey,
} from './key-schedule.ts'
import { signJwt } from './sign-jwt.ts'
import {
  type SigningAlgorithm,
  type StoredSigningKey,
  TOKEN_KINDS,
  type TokenKind,
} from './signing-key.ts'

/** What a verified token says; authorization is decided elsewhere. */
export type Verification =
  | { readonly outcome: 'good'; readonly payload: JWTPayload; readonly kid: string }
  /** Valid except for its time. */
  | { readonly outcome: 'expired'; readonly payload: JWTPayload }
  | { readonly outcome: 'invalid'; readonly why: string }

/** JWT header `typ` of each kind. They differ, so that neither passes for the other (R055). */
const TYP: Readonly<Record<TokenKind, string>> = { access: ACCESS_TOKEN_TYP, id: ID_TOKEN_TYP }

export interface VerifyOptions {
  readonly audience: string | string[]
  readonly issuers: readonly Issuer[]
}

export interface SigningKeys {
  /** Reads the keys from the store again. Another instance may have created one. */
  refresh(): Promise<void>
  /**
   * Creates the successor of each newest key that is old enough or has another algorithm than the configured one. Returns
   * none if another instance was faster.
   */
  rotateIfDue(keep?: KeepKeys): Promise<readonly StoredSigningKey[]>
  /** Creates the successor of each newest key now. Returns undefined if another instance was faster. */
  rotate(keep?: KeepKeys): Promise<NewKeys | undefined>
  /** The same for keys that sign immediately, without having been published before (D-135). */
  rotateAtOnce(keep: KeepKeys): Promise<NewKeys | undefined>
  /** Deletes keys whose last token had expired by `past`, a moment that is certainly past (D-230). */
  removeGone(past: Instant): Promise<number>
  /** Whether every kind of token has a key that can sign now and that the vault can open. */
  isUsable(): Promise<boolean>
  /** The claims may depend on the algorithm that signs them: `at_hash` does. */
  sign(kind: TokenKind, claimsFor: (algorithm: SigningAlgorithm) => Claims): Promise<string>
  /** Accepts a token only if a key for tokens of this kind signed it, with that key's own algorithm (D-320). */
  verify(kind: TokenKind, token: string, options: VerifyOptions): Promise<Verification>
  /** Whether tokens that this key signed are still accepted. */
  isPublished(kid: string): boolean
  /** Every published key, oldest first. */
  published(): readonly PublishedKey[]
  /** The public keys of these kinds of token: all of them at `/oidc/keys`, those of access tokens for routers. */
  keySet(kinds?: readonly TokenKind[]): JSONWebKeySet
  /** The algorithms that a token of this kind can have now; discovery lists those of ID tokens. */
  algorithms(kind: TokenKind): readonly SigningAlgorithm[]
}

/** A new key for each kind of token. */
export type NewKeys = Readonly<Record<TokenKind, StoredSigningKey>>

type Claims = Readonly<Record<string, unknown>>

/**
 * Stores keys together with what belongs to them, in one commit. Returns false if a key of the first one's generation
 * exists. By default only the keys are stored.
 */
export type KeepKeys = (keys: readonly StoredSigningKey[]) => Promise<boolean>

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
  readonly algorithms: Readonly<Record<TokenKind, SigningAlgorithm>>
  readonly rotation: Duration
  /** The longest lifetime of a token that is signed here. */
  readonly tokenLife: Duration
  /** D-135: all tokens signed by this key are refused from now on. */
  readonly isWithdrawn?: (kid: string) => boolean
}): SigningKeys {
  const { store, vault, clock, algorithms, rotation, tokenLife, isWithdrawn = () => false } = deps
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

  const keepAlone: KeepKeys = async (made) => {
    for (const key of made) if (!(await store.insert(key))) return false
    return true
  }

  /** Creates successors of the newest of these. If another instance does the same, the generation decides. */
  async function succeed(
    before: readonly StoredSigningKey[],
    kinds: readonly TokenKind[],
    startsAt: typeof activeFrom,
    keep: KeepKeys = keepAlone,
  ): Promise<readonly StoredSigningKey[] | undefined> {
    const now = clock.now()
    const last = before.at(-1)?.generation ?? 0
    const made = await Promise.all(
      kinds.map(async (kind, index) => ({
        ...(await createKey(algorithms[kind], vault)),
        purpose: kind,
        generation: last + 1 + index,
        createdAt: now,
        activeFrom: startsAt(before, kind, now),
        tokenLife,
      })),
    )
    const isFirst = await keep(made)
    await refresh()
    return isFirst ? made : undefined
  }

  function rotateAll(startsAt: typeof activeFrom, keep?: KeepKeys): Promise<NewKeys | undefined> {
    return inTurn(async () => {
      await refresh()
      const [access, id] = (await succeed(stored(), TOKEN_KINDS, startsAt, keep)) ?? []
      return access && id && { access, id }
    })
  }

  async function signer(kind: TokenKind, now: Instant) {
    let active = signingKey(stored(), kind, now)
    // This instance may learn that a key was withdrawn before it has read the replacement.
    if (active !== undefined && isWithdrawn(active.kid)) {
      await refresh()
      active = signingKey(stored(), kind, now)
    }
    const usable = active && keys.get(active.kid)
    if (usable === undefined) throw new Error(`there is no key that signs ${kind} tokens`)
    usable.privateKey ??= openPrivateKey(vault, usable.stored)
    const { kid, algorithm } = usable.stored
    return { kid, algorithm, privateKey: usable.privateKey }
  }

  /** D-135: a withdrawn key is refused even while it has not been removed from the copy. */
  function isPublished(kid: string): boolean {
    const isKnown = publishedKeys(stored(), clock.now()).some((key) => key.kid === kid)
    return isKnown && !isWithdrawn(kid)
  }

  function published(kinds: readonly TokenKind[]): readonly StoredSigningKey[] {
    const all = publishedKeys(stored(), clock.now())
    return all.filter((key) => kinds.some((kind) => canSign(key, kind)))
  }

  return {
    refresh,

    rotate: (keep) => rotateAll(activeFrom, keep),

    rotateAtOnce: (keep) => rotateAll((_before, _kind, now) => now, keep),

    async rotateIfDue(keep) {
      await store.raiseTokenLife(tokenLife)
      await refresh()
      // Use the same list for the check and for the successor; otherwise two instances could create one each.
      const known = stored()
      const now = clock.now()
      const due = TOKEN_KINDS.filter((kind) =>
        isRotationDue(known, kind, { algorithm: algorithms[kind], rotation }, now),
      )
      if (due.length === 0) return []
      return (await succeed(known, due, activeFrom, keep)) ?? []
    },

    async removeGone(past) {
      const gone = goneKeys(stored(), past)
      for (const key of gone) await store.remove(key.kid)
      if (gone.length > 0) await refresh()
      return gone.length
    },

    isUsable: () =>
      Promise.all(TOKEN_KINDS.map((kind) => signer(kind, clock.now()))).then(
        () => true,
        () => false,
      ),

    async sign(kind, claimsFor) {
      const key = await signer(kind, clock.now())
      return signJwt(key, TYP[kind], claimsFor(key.algorithm))
    },

    async verify(kind, token, { audience, issuers }) {
      try {
        let signedBy = ''
        const { payload } = await jwtVerify(
          token,
          ({ kid = '', alg }) => {
            // Only our own keys, each only for its own algorithm and kind of token; jku, x5u, jwk and x5c are never read
            // (R053, R054, D-320).
            const key = isPublished(kid) ? keys.get(kid) : undefined
            if (key?.stored.algorithm !== alg || !canSign(key.stored, kind))
              throw new errors.JWKSNoMatchingKey()
            signedBy = kid
            return key.publicKey
          },
          {
            typ: TYP[kind],
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

    keySet: (kinds = TOKEN_KINDS) => ({ keys: published(kinds).map((key) => key.publicJwk) }),

    algorithms: (kind) => [...new Set(published([kind]).map((key) => key.algorithm))],
  }
}

/** A key pair, its private part sealed. */
async function createKey(
  algorithm: SigningAlgorithm,
  vault: Vault,
): Promise<Pick<StoredSigningKey, 'kid' | 'algorithm' | 'publicJwk' | 'sealedPrivateJwk'>> {
  const pair = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 })
  const publicJwk = await exportJWK(pair.publicKey)
  const kid = await calculateJwkThumbprint(publicJwk) // RFC 7638
  const privateJwk = JSON.stringify(await exportJWK(pair.privateKey))
  return {
    kid,
    algorithm,
    publicJwk: { ...publicMembers(publicJwk), kid, alg: algorithm, use: 'sig' },
    sealedPrivateJwk: vault.seal('signing-key', utf8(privateJwk), kid),
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
